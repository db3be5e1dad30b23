"""What all pages share: one template environment, and one content policy that lets nothing leave a page.

Invariant: every text passes through `inert`, a length limit and HTML escaping on its way out, unless it is markup of
our own making.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache

import jinja2
from markupsafe import Markup

from rsibench.report import wording
from rsibench.report.inert import HARD_LIMIT_CHARACTERS, cut, inert
from rsibench.report.samples import TRIAL_CHARACTERS

_PACKAGE = "rsibench.report"


@cache
def environment() -> jinja2.Environment:
    """The environment of the templates; `say` holds the words that pages share."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["say"] = wording
    made.filters["cut"] = cut
    made.filters["clip_trial"] = lambda text: cut(text, TRIAL_CHARACTERS)
    return made


def asset(*names: str) -> Markup:
    """Files of this package, one after the other, to be put into a page as they are."""
    loader = environment().loader
    if loader is None:
        raise RuntimeError("the environment was made without a loader")
    return Markup("".join(loader.get_source(environment(), name)[0] for name in names))  # noqa: S704 - our own files


def trusted(svg: str) -> Markup:
    """A drawing of ours, whose texts the drawing library escapes."""
    return Markup(svg)  # noqa: S704 - see the docstring


def policy(style: str, script: str | None = None) -> str:
    """A Content-Security-Policy that names this style and script by hash and forbids everything else."""
    scripts = "" if script is None else f"script-src '{_source_hash(script)}'; "
    return f"default-src 'none'; style-src '{_source_hash(style)}'; {scripts}base-uri 'none'; form-action 'none'"


def _shown(value: object) -> object:
    """What a template prints in place of `value`: markup as it is, text inert and never endless."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inert(cut(value, HARD_LIMIT_CHARACTERS))
    return value


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
