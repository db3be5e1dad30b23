"""`rsibench researchers`: who can improve the data, and installing and checking the agents among them."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table

from rsibench.cli.output import console, print_json
from rsibench.errors import EnvironmentFault
from rsibench.researchers.catalogue import SCRIPTED
from rsibench.researchers.check import check_agent
from rsibench.researchers.install import AGENTS, agents_folder, find_agent, install_agent
from rsibench.researchers.presets import PRESETS
from rsibench.spec.settings import cache_folder


def list_researchers(*, json: bool = False) -> None:
    """Names of the researchers and what each does."""
    rows = [{"name": name, "kind": "scripted", "what": what} for name, what in SCRIPTED.items()]
    rows += [{"name": name, "kind": "agent", "what": f"{one.what}, {one.version}"} for name, one in AGENTS.items()]
    rows += [
        {"name": name, "kind": "preset", "what": f"{one.agent} with {one.model}, effort {one.effort or 'its own'}"}
        for name, one in PRESETS.items()
    ]
    if json:
        print_json(rows)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("researcher", "kind", "what it does"):
        table.add_column(heading)
    for row in rows:
        table.add_row(row["name"], row["kind"], row["what"])
    console().print(table)


def install(name: str, *, prefix: Path | None = None) -> None:
    """Install an agent's pinned version by npm, without running anything of it.

    Parameters
    ----------
    prefix
        The folder of all agents; by default one in the cache folder.
    """
    found = install_agent(name, (prefix or agents_folder(cache_folder())).resolve())
    console().print(
        f"{found.name} {found.version}\n{found.program}\nsha256 {found.sha256}", markup=False, soft_wrap=True
    )


def check(name: str, *, prefix: Path | None = None) -> None:
    """Start an agent once against a scripted model on this machine; no key, no provider."""
    found = find_agent(name, (prefix or agents_folder(cache_folder())).resolve())
    if found is None:
        raise EnvironmentFault("it is not installed", where=name, fix=f"rsibench researchers install {name}")
    shaken = check_agent(found)
    console().print(
        f"{name} {found.version}: {shaken.end}, {shaken.requests} model request(s), {shaken.seconds:.1f} s\n"
        f"sha256 {found.sha256}",
        markup=False,
        soft_wrap=True,
    )
