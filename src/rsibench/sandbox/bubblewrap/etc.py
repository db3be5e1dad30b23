"""The few files of /etc that programs look for; they say nothing of the host."""

from __future__ import annotations

from pathlib import Path

INSIDE_UID = 1000
HOST_NAME = "sandbox"

_FILES = {
    "passwd": f"root:x:0:0:root:/root:/bin/sh\nagent:x:{INSIDE_UID}:{INSIDE_UID}:agent:/home/agent:/bin/bash\n",
    "group": f"root:x:0:\nagent:x:{INSIDE_UID}:\n",
    "hosts": f"127.0.0.1 localhost {HOST_NAME}\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "resolv.conf": "",
    "hostname": HOST_NAME + "\n",
}
FROM_HOST = (
    "/etc/ssl",
    "/etc/ca-certificates",
    "/etc/pki",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/localtime",
)
"""Of the host's own, where they are there: certificates, the dynamic linker's cache, names of programs, time zone."""


def write_etc(folder: Path) -> list[tuple[Path, str]]:
    """Writes them into `folder`; each with its place inside."""
    folder.mkdir(mode=0o755, exist_ok=True)
    written = []
    for name, text in _FILES.items():
        (folder / name).write_text(text, encoding="ascii")
        (folder / name).chmod(0o644)
        written.append((folder / name, f"/etc/{name}"))
    return written
