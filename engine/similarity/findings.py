"""Everything that one run finds, ready for a table, a file or a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.course import IntakeProblem
from engine.similar.compare import compare
from engine.similar.crossed import Crossings
from engine.similar.gather import Collected
from engine.similar.groups import is_close
from engine.similar.side import Detail, detail
from engine.similar.spread import known_spread
from engine.similar.work import Comparison, Spread, Work

__all__ = ["Findings", "Found", "find", "odds"]


@dataclass(frozen=True, slots=True)
class Found:
    """What was found at one code exercise.

    Parameters
    ----------
    comparison : Comparison
    pairs, by_wording : tuple of Detail
        Its pairs with their passages.
    known : Spread or None
        How alike independent right solutions are, where it was measured.
    """

    comparison: Comparison
    pairs: tuple[Detail, ...]
    by_wording: tuple[Detail, ...]
    known: Spread | None

    def is_close(self, found: Detail) -> bool:
        """Tell whether a pair stands out."""
        return is_close(found.pair, self.comparison.spread)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a run found.

    Parameters
    ----------
    exercises : tuple of Found
        By item.
    crossings : Crossings or None
        None where no answers were looked at.
    problems : tuple of IntakeProblem
        Files that weren't compared.
    """

    exercises: tuple[Found, ...]
    crossings: Crossings | None = None
    problems: tuple[IntakeProblem, ...] = ()


def find(
    collected: Collected,
    *,
    given: Callable[[str], Sequence[str]],
    crossings: Crossings | None = None,
    keep: int = 50,
    progress: Callable[[], None] = lambda: None,
) -> Findings:
    """Compare what was collected.

    Parameters
    ----------
    collected : Collected
    given : callable
        Item id → sources that everybody got.
    crossings : Crossings, optional
        What the answers showed, where they were looked at.
    keep : int
        How many pairs of each exercise.
    progress : callable
        Called after each exercise.
    """
    exercises = []
    for item, works in sorted(collected.works.items()):
        exercises.append(_found(item, works, given(item), keep))
        progress()
    return Findings(tuple(exercises), crossings, tuple(collected.problems))


def _found(item: str, works: Sequence[Work], given: Sequence[str], keep: int) -> Found:
    comparison = compare(item, works, given=given, keep=keep)
    usual = comparison.usual
    return Found(
        comparison,
        tuple(detail(pair, usual) for pair in comparison.pairs),
        tuple(detail(pair, usual) for pair in comparison.by_wording),
        known_spread(item),
    )


def odds(chance: float) -> str:
    """Return a chance as people say it: ``1 in 400``."""
    return f"1 in {round(1 / chance):,}" if 0 < chance < 0.5 else f"{100 * chance:.0f} %"
