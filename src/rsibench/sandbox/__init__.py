"""Sandboxes for researchers: providers that keep a program from everything it was not given, and probes of them.

    choose.py        the providers by name, and what each can do here
    probing.py       a throwaway sandbox, looked at from inside
    process.py       the controller's end of a running sandbox
    state.py         one folder a sandbox; what dead controllers left
    collect.py       reading files that a researcher owns
    warden/          the process that holds a sandbox: mounts, limits, dying with the controller
    inside/          what runs within: the first process, and the checks of the probe
    bubblewrap/      namespaces by bubblewrap
    docker/          containers by the docker command

Invariant: nothing inside outlives the controller. Not here: what a researcher is told, or how it is driven.
"""
