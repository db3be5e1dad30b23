"""The lab: what a researcher may do in a run (submit, wait, read feedback, select), and the controller's side of it."""
