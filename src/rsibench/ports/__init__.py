"""The protocols between the parts of a run. Implementations are siblings and never import one another."""
