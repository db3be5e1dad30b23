"""The page of one run: a single HTML file that needs nothing else, from disk, now or in ten years.

Invariant: no request leaves it (a content policy of hashes allows its own style and script and nothing more), and every
piece of text, trusted or not, passes through `inert` and HTML escaping on its way out. Its numbers are the result's.
"""

from __future__ import annotations

import json

from markupsafe import Markup

from rsibench.report import charts
from rsibench.report.inert import cut, inert
from rsibench.report.samples import TRIAL_CHARACTERS, PairKind, TrialPair
from rsibench.report.templating import asset, environment, policy, trusted
from rsibench.report.view import PROBLEMS_SHOWN, RunView, run_view
from rsibench.run.record import RunRecord
from rsibench.spec.item import Trial

_SCRIPT_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def run_page(record: RunRecord) -> str:
    """The whole page as text that encodes as UTF-8. Imports the drawing libraries; takes a second or two."""
    view = run_view(record)
    style, script = asset("style.css"), asset("trials.js")
    return (
        environment()
        .get_template("run.html")
        .render(
            view=view,
            record=record,
            result=record.result,
            lock=record.lock,
            protocol=record.lock.protocol,
            style=style,
            script=script,
            policy=policy(style, script),
            charts=_drawings(view),
            trials_json=_trials_json(view),
            problems_shown=PROBLEMS_SHOWN,
        )
    )


def _drawings(view: RunView) -> dict[str, Markup]:
    """The charts by name, safe to put into the page as they are: the drawing library escapes every text."""
    pieces = {"trajectory": charts.trajectory_svg(view.record.result)}
    for size in ("wide", "narrow"):
        narrow = size == "narrow"
        pieces[f"families_{size}"] = "" if view.kept_base else charts.families_svg(view.changes, narrow=narrow)
        pieces[f"budget_{size}"] = charts.budget_svg(view.uses, narrow=narrow)
    return {name: trusted(svg) for name, svg in pieces.items()}


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
