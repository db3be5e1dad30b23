"""The page of one run: a single HTML file that needs nothing else, from disk, now or in ten years.

Invariant: no request leaves it (a content policy of hashes allows its own style and script and nothing more), and every
piece of text, trusted or not, passes through `inert` and HTML escaping on its way out. Its numbers are the result's.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache

import jinja2
from markupsafe import Markup

from rsibench.report import charts, wording
from rsibench.report.inert import HARD_LIMIT_CHARACTERS, cut, inert
from rsibench.report.samples import TRIAL_CHARACTERS, PairKind, TrialPair
from rsibench.report.view import PROBLEMS_SHOWN, RunView, run_view
from rsibench.run.record import RunRecord
from rsibench.spec.item import Trial

_PACKAGE = "rsibench.report"
_SCRIPT_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def run_page(record: RunRecord) -> str:
    """The whole page as text that encodes as UTF-8. Imports the drawing libraries; takes a second or two."""
    environment = _environment()
    view = run_view(record)
    style, script = _asset(environment, "style.css"), _asset(environment, "trials.js")
    return environment.get_template("run.html").render(
        view=view,
        record=record,
        result=record.result,
        lock=record.lock,
        protocol=record.lock.protocol,
        style=style,
        script=script,
        policy=_policy(style, script),
        charts=_drawings(view),
        trials_json=_trials_json(view),
        problems_shown=PROBLEMS_SHOWN,
    )


def _drawings(view: RunView) -> dict[str, Markup]:
    """The charts by name, safe to put into the page as they are: the drawing library escapes every text."""
    pieces = {"trajectory": charts.trajectory_svg(view.record.result)}
    for size in ("wide", "narrow"):
        narrow = size == "narrow"
        pieces[f"families_{size}"] = "" if view.kept_base else charts.families_svg(view.changes, narrow=narrow)
        pieces[f"budget_{size}"] = charts.budget_svg(view.uses, narrow=narrow)
    return {name: Markup(svg) for name, svg in pieces.items()}  # noqa: S704 - SVG made by us, its texts escaped


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["say"] = wording
    environment.filters["cut"] = cut
    environment.filters["clip_trial"] = lambda text: cut(text, TRIAL_CHARACTERS)
    return environment


def _shown(value: object) -> object:
    """What the template prints in place of `value`: markup as it is, text inert and never endless."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return inert(cut(value, HARD_LIMIT_CHARACTERS))
    return value


def _asset(environment: jinja2.Environment, name: str) -> Markup:
    loader = environment.loader
    if loader is None:
        raise RuntimeError("the environment was made without a loader")
    source, _, _ = loader.get_source(environment, name)
    return Markup(source)  # noqa: S704 - a file of this package, no user text in it


def _policy(style: str, script: str) -> str:
    """A Content-Security-Policy that names this style and this script by hash and forbids everything else."""
    return (
        f"default-src 'none'; style-src '{_source_hash(style)}'; script-src '{_source_hash(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _trials_json(view: RunView) -> Markup:
    """Every official pair for the page's script, as JSON that cannot end its element whatever the texts hold."""
    data = {
        "kinds": [kind.value for kind in PairKind if view.pair_counts[kind]],
        "families": sorted({inert(cut(pair.item.family, 200)) for pair in view.pairs.shown}),
        "trials": [_pair(pair) for pair in view.pairs.shown],
    }
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character, escape in _SCRIPT_UNSAFE.items():
        text = text.replace(character, escape)
    return Markup(text)  # noqa: S704 - `<`, `>` and `&` cannot occur any more


def _pair(pair: TrialPair) -> dict[str, object]:
    item = pair.item
    return {
        "item": inert(cut(item.item_id, 200)) + (f", decode {pair.decode}" if pair.decode else ""),
        "family": inert(cut(item.family, 200)),
        "template": inert(cut(item.template, 200)),
        "unseen": pair.unseen,
        "kind": pair.kind.value,
        "prompt": inert(cut(item.prompt, TRIAL_CHARACTERS)),
        "answers": [
            _answer("base", pair.base),
            *([_answer("selected", pair.selected)] if pair.selected is not None else []),
        ],
    }


def _answer(who: str, trial: Trial) -> dict[str, object]:
    verdict = trial.verdict
    return {
        "who": who,
        "outcome": verdict.outcome.value,
        "extracted": None if verdict.extracted is None else inert(cut(verdict.extracted, 500)),
        "reason": inert(cut(verdict.reason, 500)),
        "output": inert(cut(trial.output, TRIAL_CHARACTERS)),
    }
