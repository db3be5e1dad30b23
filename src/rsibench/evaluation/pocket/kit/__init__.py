"""The public kit of the pocket profile: families of small tasks and training rows for them, in several styles.

It needs only Python's standard library (3.9 or newer) and runs from wherever its folder is copied to. Invariant: it
never emits a problem of a protected split, nor a wording that only the official split uses: those are elsewhere.
"""
