"""The checks of a probe, run as the program of a throwaway sandbox: tries what must not work and says what did.

    checks.py JSON

The argument names what the host has planted. Prints one JSON object: check to what was wrong, empty when it held.
Standard library only; runs on Python 3.9 and later.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import signal
import socket
import sys
from typing import Any, Callable  # noqa: UP035 - runs on an older Python than ours

_CLONE_NEWUSER = 0x10000000
_PR_GET_NO_NEW_PRIVS = 39
_AF_VSOCK = 40
_BLOCK = bytes(1 << 20)
FIXED_SIZE = "fixed size"
"""Not a check: `yes` where the workspace is a file system of its own."""


def main(given: dict[str, Any]) -> dict[str, str]:
    """Every check's name with what was wrong."""
    checks: dict[str, Callable[[dict[str, Any]], str]] = {
        "planted file": planted_file,
        "secret in /proc": secret_in_proc,
        "host processes": host_processes,
        "user and capabilities": privileges,
        "nested user namespace": nested_namespace,
        "network": network,
        "socket families": families,
        "read-only system": read_only,
        "workspace": workspace,
        "processes": processes,
        "bridge": bridge,
    }
    found = {name: _tried(check, given) for name, check in checks.items()}
    return {**found, FIXED_SIZE: "yes" if has_fixed_size(given) else ""}


def _tried(check: Callable[[dict[str, Any]], str], given: dict[str, Any]) -> str:
    try:
        return check(given)
    except Exception as error:
        return f"the check failed: {type(error).__name__}: {error}"


def planted_file(given: dict[str, Any]) -> str:
    """Neither the file of the host nor its folder exists here."""
    path = given["planted"]
    return f"{path} can be seen" if os.path.exists(path) or os.path.exists(os.path.dirname(path)) else ""


def secret_in_proc(given: dict[str, Any]) -> str:
    """No environment or command line here holds a variable that the controller has, known by its keyed digest only."""
    digests, key = set(given["digests"]), bytes.fromhex(given["digest_key"])
    for pid in _pids():
        for name in ("environ", "cmdline"):
            try:
                with open(f"/proc/{pid}/{name}", "rb") as file:
                    entries = file.read().split(b"\0")
            except OSError:
                continue
            found = [entry.partition(b"=")[0] for entry in entries if _digest(entry, key) in digests]
            if found:
                return f"/proc/{pid}/{name} holds {found[0].decode(errors='replace')} of the controller"
    return ""


def _digest(entry: bytes, key: bytes) -> str:
    return hashlib.blake2b(entry, key=key, digest_size=16).hexdigest()


def host_processes(_given: dict[str, Any]) -> str:
    """Only the sandbox's own few processes are listed."""
    found = len(_pids())
    return f"{found} processes are listed" if found > 6 else ""


def privileges(_given: dict[str, Any]) -> str:
    """Not root, no capability in any set, no way to gain one."""
    with open("/proc/self/status", encoding="ascii") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    held = [name for name in ("CapInh", "CapPrm", "CapEff", "CapAmb") if int(status[name], 16)]
    if os.getuid() == 0 or held:
        return f"uid {os.getuid()}, capabilities in {held}"
    return "" if ctypes.CDLL(None).prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 else "privileges can be gained"


def nested_namespace(_given: dict[str, Any]) -> str:
    """No user namespace can be made, hence no capability over anything new."""
    child = os.fork()
    if child == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(_CLONE_NEWUSER) == 0 else 1)
    _, status = os.waitpid(child, 0)
    return "one can be made" if status == 0 else ""


def network(given: dict[str, Any]) -> str:
    """Only a loopback of its own; the host's loopback and the outside are not reached."""
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    with open("/proc/net/dev", encoding="ascii") as file:
        used = [line.split(":")[0].strip() for line in file if ":" in line]
    if names or [name for name in used if name not in ("lo", "")]:
        up = [
            name for name in names if not name.startswith(("tunl", "sit", "gre", "erspan", "ip_vti", "ip6", "gretap"))
        ]
        if up:
            return f"interfaces {up}"
    for address in (("127.0.0.1", given["loopback_port"]), ("1.1.1.1", 53), ("169.254.169.254", 80)):
        with socket.socket() as tried:
            tried.settimeout(1.0)
            if tried.connect_ex(address) == 0:
                return f"{address[0]} can be reached"
    return ""


def families(_given: dict[str, Any]) -> str:
    """No raw packets, and no address family that network namespaces do not separate."""
    for name, family, kind in (
        ("packet", socket.AF_PACKET, socket.SOCK_RAW),
        ("raw", socket.AF_INET, socket.SOCK_RAW),
        ("vsock", _AF_VSOCK, socket.SOCK_STREAM),
    ):
        try:
            socket.socket(family, kind, 0 if family != socket.AF_INET else socket.IPPROTO_ICMP).close()
        except OSError:
            continue
        return f"a {name} socket can be opened"
    return ""


def read_only(_given: dict[str, Any]) -> str:
    """Nothing outside workspace, home and scratch folders can be written."""
    for folder in ("/", "/usr", "/usr/bin", "/etc", "/dev", "/run", "/run/bridge", "/proc/sys/kernel"):
        path = f"{folder.rstrip('/')}/rsibench-was-here"
        try:
            with open(path, "wb"):
                pass
        except OSError:
            continue
        return f"{folder} can be written"
    return "/sys is there" if os.path.exists("/sys/kernel") else ""


def workspace(given: dict[str, Any]) -> str:
    """It can be written, and where it is a file system of fixed size it is full where it should be."""
    path = "/workspace/filled"
    written = 0
    most = given["workspace_bytes"] * 2
    hard = has_fixed_size(given)
    try:
        with open(path, "wb", buffering=0) as file:
            while hard and written < most:
                written += file.write(_BLOCK)
            file.write(b"x")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            return f"it cannot be written: {error.strerror}"
    finally:
        if os.path.exists(path):
            os.unlink(path)
    return f"{written} bytes fit in" if written > given["workspace_bytes"] else ""


def has_fixed_size(given: dict[str, Any]) -> bool:
    """Whether the workspace is a file system no larger than its limit."""
    found = os.statvfs("/workspace")
    return bool(found.f_blocks * found.f_frsize <= given["workspace_bytes"])


def processes(given: dict[str, Any]) -> str:
    """No more can be started than the limit says."""
    children: list[int] = []
    try:
        while len(children) <= given["processes"]:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError:
        return ""
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return f"{len(children)} could be started"


def bridge(given: dict[str, Any]) -> str:
    """The one port leads to the one socket."""
    with socket.create_connection(("127.0.0.1", given["bridge_port"]), timeout=5.0) as client:
        client.sendall(b"ping")
        client.shutdown(socket.SHUT_WR)
        said = client.recv(16)
    return "" if said == b"pong" else f"the socket answered {said!r}"


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
