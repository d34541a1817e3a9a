"""One item's variants in one class: no two students alike before the family is used up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from engine.items import ProblemSpec
from engine.items.bank import Bank
from engine.model import Variant
from engine.variants import draw

__all__ = ["ItemVariants", "content", "with_points"]

# Whole quizzes are drawn as attempts 0 to 1000, so further draws of one item go in steps of 1001; those for
# another attempt at a question begin 10,000 steps on, beyond whatever the first draw may have skipped.
# Changing a number here redraws quizzes that students have: it can't be done.
_STEP = 1001
_RETRIES = 10_000
# An item that gives no new variant in so many draws is taken to have none.
_TRIES = 200


def content(variant: Variant) -> str:
    """Return a hash of what a variant asks: equal for two that differ only in the order of options."""
    # Sorted: the same options in another order are the same question, which a neighbour can answer.
    texts = [
        [part.id, *sorted(option.text.plain for option in (*part.prompts, *part.options))]
        for part in variant.parts
    ]
    values = {name: [list(value.shape), list(value.entries)] for name, value in variant.values.items()}
    whole = json.dumps([variant.item, variant.stem.plain, values, texts], sort_keys=True)
    return hashlib.sha256(whole.encode("ascii")).hexdigest()[:16]


def with_points(variant: Variant, points: float | None) -> Variant:
    """Return the variant with other full marks, its parts in proportion."""
    if points is None or points == variant.points:
        return variant
    scale = points / variant.points
    return replace(variant, parts=tuple(replace(p, points=p.points * scale) for p in variant.parts))


@dataclass
class ItemVariants:
    """The variants of one item in quiz `name`.

    Parameters
    ----------
    spec : ProblemSpec
    version : str
    registry : mapping of str to str
    secret : bytes
    name : str
        Name of the quiz.
    """

    spec: ProblemSpec
    version: str
    registry: Mapping[str, str]
    secret: bytes
    name: str
    _handed_out: set[str] = field(default_factory=set)
    _size: int | None = None
    _ahead: dict[tuple[str, int], Variant] = field(default_factory=dict)

    @classmethod
    def of(cls, bank: Bank, item: str, secret: bytes, name: str) -> ItemVariants:
        """Return the family of an item in the bank as it is now."""
        return cls(bank.load(item), bank.version(item), bank.registry(), secret, name)

    def note(self, variant: Variant) -> None:
        """Count a variant that somebody has already."""
        self._handed_out.add(content(variant))

    def first(self, student: str, attempt: int) -> Variant:
        """Draw a student's variant: one that nobody in the class has, as long as there is any.

        Raises
        ------
        engine.errors.DrawError
            As :func:`engine.variants.draw`.
        """
        # Students outnumber the variants of a small family: once each is handed out, the next round begins,
        # so that they are shared evenly.
        if self._size is not None and len(self._handed_out) >= self._size:
            self._handed_out.clear()
        variant = self._draw(student, attempt)
        for bump in range(1, self._limit()):
            if content(variant) not in self._handed_out:
                break
            variant = self._draw(student, attempt + _STEP * bump)
        if content(variant) in self._handed_out:
            # Used up: the next round begins, and from now on its length is known.
            self._size = len(self._handed_out)
            self._handed_out.clear()
        self.note(variant)
        return variant

    def again(self, student: str, attempt: int, retry: int, before: Collection[Variant]) -> Variant | None:
        """Draw a variant for another attempt, unlike all that the student had; None if there is none."""
        earlier = {content(variant) for variant in before}
        base = attempt + _STEP * _RETRIES * retry
        for bump in range(_TRIES):
            variant = self._draw(student, base + _STEP * bump)
            if content(variant) not in earlier:
                return variant
        return None

    def keep_ahead(self, student: str, attempt: int, variant: Variant) -> None:
        """Keep what :meth:`plain` drew elsewhere, until it is asked for."""
        self._ahead[student, attempt] = variant

    def _draw(self, student: str, attempt: int) -> Variant:
        return self._ahead.pop((student, attempt), None) or self.plain(student, attempt)

    def plain(self, student: str, attempt: int) -> Variant:
        """Draw a variant, whatever others have.

        Raises
        ------
        engine.errors.DrawError
            As :func:`engine.variants.draw`.
        """
        return draw(
            self.spec,
            version=self.version,
            registry=self.registry,
            secret=self.secret,
            student=f"{self.name}/{student}",
            attempt=attempt,
        )

    def _limit(self) -> int:
        # The last variant of a small family is found by luck alone: ten tries for each that there is.
        size = self.spec.variants
        return _TRIES if size is None else min(10 * size + 20, 10 * _TRIES)
