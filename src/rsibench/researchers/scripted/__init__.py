"""Scripted researchers: policies in plain Python that use their workspace and the `lab` command and nothing else.

They are controls and examples. They import only the standard library, never the harness, and run as
`python -m rsibench.researchers.scripted POLICY --seed N` with the workspace as the current folder.
"""
