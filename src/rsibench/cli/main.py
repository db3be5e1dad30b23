"""`rsibench`: the table of commands, and the one place where errors become messages and exit codes.

Exit codes: 0 done, 1 unexpected, 2 not acceptable as asked, 3 this machine lacks something, 4 evidence contradicts
itself, 5 budget, 6 submission refused, 7 infrastructure failed, 8 not possible in the run's state, 130 interrupted and
resumable.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import cyclopts

from rsibench.errors import RsibenchError, SpecError
from rsibench.version import __version__

INTERRUPTED = 130
_TRACEBACK_FLAG = "--traceback"
_UNEXPECTED = f"a run can be resumed; {_TRACEBACK_FLAG} shows where it happened, please report that"

_COMMANDS = {
    "run": ("rsibench.cli.run:run", "Run a researcher on a profile, from base score to official score."),
    "resume": ("rsibench.cli.run:resume", "Continue a run that was interrupted."),
    "status": ("rsibench.cli.status:status", "What a run has done and what it has left; without a name, all runs."),
    "report": ("rsibench.cli.report:report", "Write the self-contained HTML page of a run and print its result."),
    "verify": ("rsibench.cli.verify:verify", "Recompute everything a run printed and say what does not agree."),
    "gate": ("rsibench.cli.gate:gate", "Check a submission's files against a profile without spending anything."),
    "simulate": (
        "rsibench.cli.simulate:simulate",
        "What researchers of set skill would show, beside what chance gives.",
    ),
    "export": ("rsibench.cli.exchange:export", "Write finished runs for Inspect, or as a dataset folder."),
    "import": ("rsibench.cli.exchange:import_", "Read Harbor jobs or RSIGym records into tables."),
    "serve": ("rsibench.cli.serve:serve", "Show runs in a browser while they go on."),
    "mechanisms": ("rsibench.cli.mechanisms:mechanisms", "What a researcher did between attempts, measured."),
    "frames": ("rsibench.cli.frames:frames", "Recorded runs as Parquet tables."),
    "tinker-serve": ("rsibench.cli.tinker_serve:tinker_serve", "Train and sample here for clients of the Tinker API."),
    "doctor": ("rsibench.cli.doctor:doctor", "What works on this machine, what does not, and what to do."),
}

_CAMPAIGN_COMMANDS = {
    "plan": "Cells, costs, hours, and what difference the campaign could find; starts nothing.",
    "run": "Run every cell that is not finished.",
    "status": "Where every cell stands.",
    "resume": "Continue a campaign that was interrupted or cancelled.",
    "cancel": "Stop a campaign in an orderly way.",
}


def build_app() -> cyclopts.App:
    """The application; commands are import paths, so that `--help` loads none of them."""
    app = cyclopts.App(
        name="rsibench",
        version=__version__,
        help="Measures whether an agent can improve a fixed language model by changing only its training data.",
        help_epilogue=f"Add {_TRACEBACK_FLAG} to any command to see where an error comes from.",
    )
    for name, (target, text) in _COMMANDS.items():
        app.command(target, name=name, help=text)
    profiles = cyclopts.App(name="profiles", help="The benchmarks that are shipped.")
    profiles.command("rsibench.cli.profiles:list_profiles", name="list", help="Names and titles.")
    profiles.command("rsibench.cli.profiles:show_profile", name="show", help="What a profile runs and costs.")
    app.command(profiles)
    campaign = cyclopts.App(name="campaign", help="A matrix of runs from a YAML file.")
    for name, text in _CAMPAIGN_COMMANDS.items():
        campaign.command(f"rsibench.cli.campaign:{name}", name=name, help=text)
    app.command(campaign)
    researchers = cyclopts.App(name="researchers", help="Who can improve the data.")
    researchers.command("rsibench.cli.researchers:list_researchers", name="list", help="Names and what they do.")
    researchers.command(
        "rsibench.cli.researchers:install", name="install", help="Install a pinned agent into a private folder."
    )
    researchers.command(
        "rsibench.cli.researchers:check", name="check", help="A handshake with an agent, without a key."
    )
    app.command(researchers)
    return app


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the `rsibench` command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    show_traceback = _TRACEBACK_FLAG in words
    words = [word for word in words if word != _TRACEBACK_FLAG]
    try:
        code = build_app()(words, result_action="return_value", exit_on_error=False)
    except cyclopts.CycloptsError:
        sys.exit(SpecError.exit_code)  # cyclopts has said what is wrong
    except RsibenchError as error:
        if show_traceback:
            raise
        _explain(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if show_traceback:
            raise
        _explain(RsibenchError(f"unexpected {type(error).__name__}: {error}", fix=_UNEXPECTED))
        sys.exit(RsibenchError.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def _explain(error: RsibenchError) -> None:
    where = f" [{error.where}]" if error.where else ""
    print(f"rsibench: {error.what}{where}", file=sys.stderr)
    if error.fix:
        print(f"  what to do: {error.fix}", file=sys.stderr)
