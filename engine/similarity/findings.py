"""Everything that one comparison finds, ready for a table, a file or a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.hand_ins import IntakeProblem
from engine.similarity.answers import AnswerComparison
from engine.similarity.compare import compare, is_close, known_spread
from engine.similarity.gather import CollectedFiles, ComparedFile, ItemComparison, SimilaritySpread
from engine.similarity.passages import PairDetail, detail
from engine.text.words import percent


@dataclass(frozen=True, slots=True)
class ExerciseFindings:
    """What was found at one code exercise.

    Parameters
    ----------
    comparison : ItemComparison
    pairs, by_wording : tuple of PairDetail
        Its pairs with their passages.
    known : SimilaritySpread or None
        How alike independent right solutions are, where it was measured.
    """

    comparison: ItemComparison
    pairs: tuple[PairDetail, ...]
    by_wording: tuple[PairDetail, ...]
    known: SimilaritySpread | None

    def is_close(self, detail: PairDetail) -> bool:
        """Return whether a pair stands out."""
        return is_close(detail.pair, self.comparison.spread)


@dataclass(frozen=True, slots=True)
class SimilarityFindings:
    """What a run found.

    Parameters
    ----------
    exercises : tuple of ExerciseFindings
        By item.
    copied_answers : AnswerComparison or None
        None where no answers were looked at.
    problems : tuple of IntakeProblem
        Files that weren't compared.
    """

    exercises: tuple[ExerciseFindings, ...]
    copied_answers: AnswerComparison | None = None
    problems: tuple[IntakeProblem, ...] = ()


def find(
    collected: CollectedFiles,
    *,
    handouts: Callable[[str], Sequence[str]],
    copied_answers: AnswerComparison | None = None,
    keep: int = 50,
    progress: Callable[[], None] = lambda: None,
) -> SimilarityFindings:
    """Compare what was collected.

    Parameters
    ----------
    collected : CollectedFiles
    handouts : callable
        Item id → sources that everybody got.
    copied_answers : AnswerComparison, optional
        What the answers showed, where they were looked at.
    keep : int
        How many pairs of each exercise.
    progress : callable
        Called after each exercise.
    """
    exercises = []
    for item, works in sorted(collected.works.items()):
        exercises.append(_exercise_findings(item, works, handouts(item), keep))
        progress()
    return SimilarityFindings(tuple(exercises), copied_answers, tuple(collected.problems))


def _exercise_findings(
    item: str, works: Sequence[ComparedFile], handouts: Sequence[str], keep: int
) -> ExerciseFindings:
    comparison = compare(item, works, handouts=handouts, keep=keep)
    usual = comparison.usual
    return ExerciseFindings(
        comparison,
        tuple(detail(pair, usual) for pair in comparison.pairs),
        tuple(detail(pair, usual) for pair in comparison.by_wording),
        known_spread(item),
    )


def odds(chance: float) -> str:
    """Return a chance as people say it: ``1 in 400``."""
    return f"1 in {round(1 / chance):,}" if 0 < chance < 0.5 else percent(chance, 0)
