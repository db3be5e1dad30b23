"""Our local trainer and sampler behind the Tinker wire protocol, for the unmodified official client on this machine."""
