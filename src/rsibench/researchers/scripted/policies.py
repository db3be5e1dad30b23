"""The policies. Each is a function of the bench; none of them knows anything that the bench does not tell it."""

from __future__ import annotations

from collections.abc import Callable

from rsibench.researchers.scripted.bench import Bench, Mix, Seen

_LEARNING_RATE = 2e-3
_LEAST_SHARE = 0.25
_TINY_LEARNING_RATE = 1e-5


def one_shot(bench: Bench) -> None:
    """One even data set of worked solutions, taken as it comes."""
    seen = bench.submit(_even(bench), _hypothesis(bench, "every family needs its steps spelled out"), draw=0)
    bench.select(seen.attempt if seen else None)


def feedback(bench: Bench) -> None:
    """Start even; then give each family a share that grows with its failures; keep what was best."""
    base = bench.base()
    best = base
    mix, draw = _even(bench), 0
    reason = "the base student answers without working: worked solutions in every family should lift all of them"
    while bench.attempts_left() > 0:
        seen = bench.submit(mix, _hypothesis(bench, reason, expected=_weakest(best)), draw)
        draw += 1
        if seen is None:
            continue
        if seen.rate > best.rate:
            best = seen
        mix = _repaired(bench, best, epochs=1 + draw % 2)
        reason = f"attempt {seen.attempt} still fails most in {', '.join(_weakest(seen))}: more and varied rows there"
    found = _best(bench)
    bench.select(found.attempt if found and found.rate > base.rate else None)


def best_of_n(bench: Bench) -> None:
    """Independent draws of the same even data set until the attempts are spent; the best score is taken."""
    draw = 0
    while bench.attempts_left() > 0:
        bench.submit(_even(bench), _hypothesis(bench, f"independent draw {draw}"), draw)
        draw += 1
    best = _best(bench)
    bench.select(best.attempt if best else None)


def no_op(bench: Bench) -> None:
    """One row, one step, the smallest rate and rank: the adapter exists and changes as good as nothing."""
    rows = bench.kit_rows(bench.families[0], "answer", 1, bench.seed)
    mix = Mix({}, learning_rate=_TINY_LEARNING_RATE, epochs=1, lora_rank=1)
    seen = bench.submit_rows(rows, mix, "Nothing should move: this measures what training alone does.")
    bench.select(seen.attempt if seen else None)


def overreach(bench: Bench) -> None:
    """Never satisfied: each attempt bets all on what is worst now, at a higher rate; the last one is kept."""
    mix, draw = _even(bench), 0
    while bench.attempts_left() > 0:
        seen = bench.submit(mix, _hypothesis(bench, "all effort to the weakest family"), draw)
        draw += 1
        if seen is not None:
            mix = Mix({(_weakest(seen)[0], "worked"): 1.0}, learning_rate=_LEARNING_RATE * (1 + draw), epochs=1 + draw)
    bench.select(max(bench.attempts_done(), default=None))


def _best(bench: Bench) -> Seen | None:
    """The best of all attempts that were scored, also before this process was started; the earliest of equals."""
    return max((bench.feedback(number) for number in sorted(bench.attempts_done())), key=lambda s: s.rate, default=None)


def _even(bench: Bench) -> Mix:
    return Mix({(family, "worked"): 1.0 for family in bench.families}, _LEARNING_RATE, epochs=1)


def _repaired(bench: Bench, seen: Seen, epochs: int) -> Mix:
    """Shares that grow with a family's failures; where answers could not be read, some rows show the bare form."""
    shares: dict[tuple[str, str], float] = {}
    for family in bench.families:
        result = seen.families.get(family)
        need = 1.0 - result.rate if result else 1.0
        share = _LEAST_SHARE + need
        unread = result.no_answer / result.total if result and result.total else 0.0
        shares[family, "worked"] = share * (1 - 0.3 * unread)
        if unread > 0:
            shares[family, "brief"] = share * 0.3 * unread
    return Mix(shares, _LEARNING_RATE, epochs=epochs)


def _weakest(seen: Seen, count: int = 3) -> list[str]:
    ranked = sorted(seen.families, key=lambda family: (seen.families[family].rate, family))
    return ranked[:count] or ["(unknown)"]


def _hypothesis(bench: Bench, reason: str, expected: list[str] | None = None) -> str:
    moved = ", ".join(expected) if expected else "all families"
    return f"Gap: {reason}.\nData: kit rows, families {', '.join(bench.families)}.\nExpected to move: {moved}."


POLICIES: dict[str, Callable[[Bench], None]] = {
    "one-shot": one_shot,
    "feedback": feedback,
    "best-of-n": best_of_n,
    "no-op": no_op,
    "overreach": overreach,
}
