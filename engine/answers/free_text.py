"""An answer in the student's own words, which a person marks by a rubric.

No machine judges it: until :class:`~engine.model.RubricMarks` are there, each criterion waits. They are in
the rubric's own units. What a criterion counts in a quiz follows from the points of the question, so that a
marker always gives 2 of 3, whatever the question is worth.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from engine.answers.base import (
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    PartResult,
    PartSettings,
)
from engine.answers.typed_text import format_error
from engine.draws import RandomStream
from engine.errors import UsageError
from engine.model import Check, Part, RenderedText, RubricMarks, Verdict
from engine.text.words import count_noun, did_you_mean, join_words, plain_points, points_text, visible

if TYPE_CHECKING:
    from engine.items import CriterionSpec, FreeTextAnswer

WAITS = "A person marks this answer: it has no score yet."
"""The note of a report that waits; the store knows such attempts by their checks, not by these words."""

_LONGEST = 20_000  # characters: ten times as many words as an item can ask for have no more
_USUAL_STEP = 0.5
_PLACES = 6  # of points of a criterion: a third of a point is given as it is shown


@dataclass(frozen=True, slots=True)
class RubricLevel:
    """Points of a criterion, and what earns them."""

    points: float
    text: RenderedText


@dataclass(frozen=True)
class RubricCriterion:
    """One criterion as markers and students read it.

    Parameters
    ----------
    id : str
    title : RenderedText
        Shown before the answer.
    text : RenderedText
        What earns full points.
    points : float
        The most, in the rubric's own units.
    step : float
        What points are multiples of, where there are no levels.
    levels : tuple of RubricLevel
        From the most points to the fewest; empty where steps are given.
    """

    id: str
    title: RenderedText
    text: RenderedText
    points: float
    step: float = _USUAL_STEP
    levels: tuple[RubricLevel, ...] = ()

    @cached_property
    def choices(self) -> tuple[float, ...]:
        """The points that can be given, from the fewest to the most."""
        if self.levels:
            return tuple(sorted({0.0, *(level.points for level in self.levels)}))
        count = int(self.points / self.step + 1e-9)
        steps = (round(n * self.step, _PLACES) for n in range(count + 1))
        return tuple(sorted({*steps, self.points}))

    @property
    def keys(self) -> tuple[str, ...]:
        """The key on a keyboard that gives each of the choices.

        A digit gives that many points, a letter from ``a`` on gives points between; empty where keys run out.
        """
        letters = iter("abcdefghijk")
        whole = {float(digit): str(digit) for digit in range(10)}
        return tuple(
            whole.get(points) or ("" if points > 9 else next(letters, "")) for points in self.choices
        )

    def level_of(self, points: float) -> RubricLevel | None:
        """Return the level that points stand for, if the criterion has levels."""
        return next((level for level in self.levels if level.points == points), None)

    def checked(self, points: float) -> float:
        """Return points as they are stored.

        Raises
        ------
        UsageError
            They can't be given for this criterion.
        """
        near = min(self.choices, key=lambda choice: abs(choice - points))
        # "not … <=", for NaN is near nothing
        if not abs(near - points) <= 10**-_PLACES:
            got = str(plain_points(points)) if math.isfinite(points) else "not a number"
            where = f"criterion {self.id}"
            raise UsageError("these points can't be given", where=where, expected=self.offer, got=got)
        return near

    @property
    def offer(self) -> str:
        """The points that can be given, in words."""
        if len(self.choices) > 12:
            return f"0 to {plain_points(self.points)} in steps of {plain_points(self.step)}"
        return join_words([str(plain_points(choice)) for choice in self.choices], "or")


def _text_of(stored: Mapping[str, str]) -> RenderedText:
    return RenderedText(stored["plain"], stored["html"], stored["latex"])


def _json_of(text: RenderedText) -> dict[str, str]:
    return {"plain": text.plain, "html": text.html, "latex": text.latex}


@dataclass(frozen=True, slots=True)
class FreeTextSettings(PartSettings):
    """The rubric and the sample of a part, as JSON values; the functions below give them their types."""

    rubric: tuple[Mapping[str, Any], ...] = ()
    sample: Mapping[str, str] | None = None
    min_words: int | None = None
    max_words: int | None = None
    omit_empty: ClassVar[frozenset[str]] = frozenset({"min_words", "max_words"})


def rubric_of(part: Part) -> tuple[RubricCriterion, ...]:
    """Return the criteria of a part, in their order."""
    return tuple(
        RubricCriterion(
            entry["id"],
            _text_of(entry["title"]),
            _text_of(entry["text"]),
            entry["points"],
            entry.get("step") or _USUAL_STEP,
            tuple(RubricLevel(level["points"], _text_of(level["text"])) for level in entry.get("levels", ())),
        )
        for entry in FreeTextSettings.of(part).rubric
    )


def sample_of(part: Part) -> RenderedText | None:
    """Return the answer that earns full marks."""
    sample = FreeTextSettings.of(part).sample
    return None if sample is None else _text_of(sample)


def rubric_lines(part: Part) -> list[str]:
    """Return what earns which points, a line for each criterion and level: for whoever may see the key."""
    lines = []
    for criterion in rubric_of(part):
        lines.append(f"{criterion.title.plain} ({points_text(criterion.points)}): {criterion.text.plain}")
        lines += [f"  {points_text(level.points)}: {level.text.plain}" for level in criterion.levels]
    return lines


def rubric_digest(part: Part) -> str:
    """Return a digest of what a rubric offers: its criteria and the points that can be given for each.

    Wording doesn't count: a typo that is corrected takes nobody's marks away.
    """
    offer = [[criterion.id, *criterion.choices] for criterion in rubric_of(part)]
    return hashlib.sha256(json.dumps(offer, separators=(",", ":")).encode("ascii")).hexdigest()[:16]


def fits(part: Part, marks: RubricMarks) -> bool:
    """Return whether marks were given under the rubric that a part has."""
    return marks.part == part.id and marks.rubric == rubric_digest(part)


def count_words(text: str) -> int:
    """Return how many words an answer has, as word processors count them."""
    return sum(1 for word in text.split() if re.search(r"\w", word))


def word_limits(part: Part) -> tuple[int | None, int | None]:
    """Return how many words are asked for at least and at most; None where the item doesn't say."""
    settings = FreeTextSettings.of(part)
    return settings.min_words, settings.max_words


def length_text(part: Part, text: str) -> str:
    """Return how many words a text has, and how many are left, as it is said beside the field."""
    limit, count = word_limits(part)[1], count_words(visible(text))
    words = count_noun(count, "word")
    if limit is None:
        return words
    return f"{words}, {limit - count} left" if count <= limit else f"{words}, {count - limit} too many"


class FreeText(AnswerType):
    """Words that a person marks."""

    name = "free_text"
    needs_person = True
    shows_policy = True
    lines_on_paper = 8

    def draft(self, answer: FreeTextAnswer, context: FieldContext) -> FieldDraft:
        """Draft a field for words: nothing of it is computed."""

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            # What is read after the answer may show what was drawn and the keys of other steps.
            after = FieldRenderer({**renderer.names, **renderer.answers}, {}, renderer.registry)
            settings = FreeTextSettings(
                rubric=tuple(_criterion_json(criterion, renderer, after) for criterion in answer.rubric),
                sample=_json_of(after.text(answer.sample, "sample")),
                min_words=answer.min_words,
                max_words=answer.max_words,
            )
            return Part("", answer.type, 1.0, settings=settings.as_json())

        return FieldDraft(None, "free_text", build)

    def parse(self, text: str, part: Part) -> str:
        """Return the words, without what surrounds them and what no page can show.

        Raises
        ------
        engine.errors.ResponseFormatError
            It is so long that nobody could be asked to read it.
        """
        if len(text) > _LONGEST:
            expected = f"at most {count_noun(_LONGEST, 'character')}"
            raise format_error(f"this has {count_noun(len(text), 'character')}", text, expected=expected)
        return visible(text).strip()

    def check_limits(self, part: Part, answer: str) -> None:
        """Refuse an answer with more words than the field takes, while it can still be shortened.

        Raises
        ------
        engine.errors.ResponseFormatError
            It has more than ``max_words``.
        """
        limit, count = word_limits(part)[1], count_words(answer)
        if limit is not None and count > limit:
            raise format_error(
                f"this has {count_noun(count, 'word')}",
                answer,
                expected=f"at most {count_noun(limit, 'word')}",
                next_step="shorten it; this costs no attempt",
            )

    def mark(self, part: Part, answer: str | None) -> PartResult:
        """Return a result whose criteria wait for a person; an answer on paper is None."""
        rubric = rubric_of(part)
        checks = tuple(
            Check(
                f"{part.id}.{criterion.id}",
                Verdict.WAITING,
                0.0,
                self._worth(part, rubric, criterion.points),
                title=criterion.title.plain,
            )
            for criterion in rubric
        )
        notes = (WAITS, *_length_notes(part, answer))
        return PartResult(part.id, 0.0, part.points, WAITS, notes=notes, checks=checks, is_waiting=True)

    def marked(self, part: Part, answer: str | None, marks: RubricMarks) -> PartResult:
        """Return the result of an answer that a person has marked; one on paper is None."""
        rubric = rubric_of(part)
        checks = []
        for criterion in rubric:
            points = marks.points[criterion.id]
            level = criterion.level_of(points)
            # The criterion's own text says what is right: not for whoever has an attempt left.
            reason = marks.comments.get(criterion.id) or (level.text.plain if level is not None else "")
            is_full = points >= criterion.points
            checks.append(
                Check(
                    f"{part.id}.{criterion.id}",
                    Verdict.PASSED if is_full else Verdict.FAILED,
                    self._worth(part, rubric, points),
                    self._worth(part, rubric, criterion.points),
                    reason,
                    criterion.title.plain,
                )
            )
        is_all = all(marks.points[criterion.id] >= criterion.points for criterion in rubric)
        score = sum(marks.points[criterion.id] for criterion in rubric)
        # Full marks are the part's own, to the last bit.
        total = part.points if is_all else self._worth(part, rubric, score)
        notes = (*_length_notes(part, answer), *([marks.comment] if marks.comment else []))
        return PartResult(part.id, total, part.points, "", notes=notes, checks=tuple(checks))

    @staticmethod
    def _worth(part: Part, rubric: tuple[RubricCriterion, ...], points: float) -> float:
        """Return what points of the rubric count in the question."""
        return round(points * part.points / sum(criterion.points for criterion in rubric), 9)

    def right_responses(self, part: Part) -> list[str]:
        """Return the sample."""
        sample = sample_of(part)
        return ["" if sample is None else sample.plain]

    def blank_hint(self, part: Part) -> str:
        """Return that words are wanted, and how many."""
        low, high = word_limits(part)
        if low is not None and high is not None:
            return f"your own words, {low} to {count_noun(high, 'word')}"
        if high is not None:
            return f"your own words, at most {count_noun(high, 'word')}"
        if low is not None:
            return f"your own words, at least {count_noun(low, 'word')}"
        return "a few sentences in your own words"

    def policy(self, part: Part) -> str:
        """Return what a person looks for, and the points for it."""
        rubric = rubric_of(part)
        parts = [
            f"{criterion.title.plain} ({points_text(self._worth(part, rubric, criterion.points))})"
            for criterion in rubric
        ]
        return f"marked by a person: {join_words(parts)}"

    def key_words(self, part: Part) -> str:
        """Return the sample."""
        return self.right_responses(part)[0]


def _criterion_json(criterion: CriterionSpec, before: FieldRenderer, after: FieldRenderer) -> dict[str, Any]:
    where = f"criterion {criterion.id}"
    return {
        "id": criterion.id,
        "title": _json_of(before.text(criterion.title, where, inline=True)),
        "text": _json_of(after.text(criterion.text, where)),
        "points": criterion.points,
        "step": criterion.step or _USUAL_STEP,
        "levels": [
            {"points": level.points, "text": _json_of(after.text(level.text, where))}
            for level in criterion.levels
        ],
    }


def _length_notes(part: Part, answer: str | None) -> tuple[str, ...]:
    """Return that an answer is shorter or longer than asked for; it is marked all the same."""
    if answer is None:  # on paper, where nobody counts words
        return ()
    (low, high), count = word_limits(part), count_words(answer)
    words = count_noun(count, "word")
    if high is not None and count > high:
        return (f"Your answer has {words}; at most {high} were asked for.",)
    if low is not None and count < low:
        return (f"Your answer has {words}; at least {low} were asked for.",)
    return ()


def checked_points(part: Part, points: Mapping[str, float]) -> dict[str, float]:
    """Return points for every criterion as they are stored, in the rubric's order.

    Raises
    ------
    UsageError
        A criterion is missing or unknown, or can't have these points.
    """
    rubric = rubric_of(part)
    ids = [criterion.id for criterion in rubric]
    for name in points:
        if name not in ids:
            near = did_you_mean(name, ids)
            raise UsageError(f"there is no criterion {name!r}{near}", expected=join_words(ids, "or"))
    missing = [name for name in ids if name not in points]
    if missing:
        raise UsageError(
            "points are missing", where=f"criterion {missing[0]}", expected="points for every criterion"
        )
    return {criterion.id: criterion.checked(points[criterion.id]) for criterion in rubric}
