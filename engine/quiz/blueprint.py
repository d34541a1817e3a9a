"""The plan of a quiz as a lecturer writes it: sections, and the rules for whoever takes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from engine.errors import QuizError
from engine.plurals import agree, counted
from engine.quiz.keys import Credits, Deadline, Share, difficulty_range
from engine.rules import QuizRules, Shown
from engine.spec.kinds import EntryId, Flag, Identifier, Real, SourceName, Whole
from engine.spec.places import Document, Loc
from engine.spec.ranges import refuse
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml

__all__ = ["Blueprint", "Draw", "Plan", "Section", "read_blueprint"]

Kind = Literal[
    "single_choice",
    "multiple_choice",
    "number",
    "vector",
    "matrix",
    "ordering",
    "matching",
    "token",
    "steps",
]
Bloom = Literal["remember", "understand", "apply", "analyse", "evaluate", "create"]
Difficulty = Annotated[tuple[Whole, Whole], BeforeValidator(difficulty_range)]
_LATER_KEYS = frozenset({"source", "needs", "exclude", "exercises"})
_FILTERS = ("topics", "types", "difficulty", "bloom", "source", "needs", "exclude")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class _Filter(_Strict):
    """What a drawn item must match; a filter that is left out lets everything through.

    ``source`` names the documents of a course: an item matches if it comes from one of them and quotes the
    notation of no other. ``needs`` names what has been taught: an item matches if it needs nothing else.
    ``exclude`` names items that are never drawn.
    """

    topics: tuple[Identifier, ...] = ()
    types: tuple[Kind, ...] = ()
    difficulty: Difficulty = (1, 5)
    bloom: tuple[Bloom, ...] = ()
    source: tuple[SourceName, ...] = ()
    needs: tuple[EntryId, ...] | None = None
    exclude: tuple[Identifier, ...] = ()


class Draw(_Filter):
    """``count`` items that match the filters."""

    count: Whole = Field(ge=1, le=100)


class Section(_Filter):
    """Part of a blueprint: pinned items, then drawn ones.

    Drawn are ``count`` questions less the pinned ones, or what the entries of ``draw`` ask for.
    ``points`` are those of each question. With ``per_student`` each student draws other items.
    """

    title: str = Field(default="", max_length=200)
    items: tuple[Identifier, ...] = Field(default=(), max_length=100)
    count: Whole | None = Field(default=None, ge=1, le=100)
    draw: tuple[Draw, ...] = Field(default=(), max_length=100)
    points: Real | None = Field(default=None, gt=0, le=1000)
    per_student: Flag = False

    @property
    def draws(self) -> tuple[Draw, ...]:
        """What is drawn, entry by entry."""
        missing = (self.count or 0) - len(self.items)
        if self.draw or missing <= 0:
            return self.draw
        own = {name: getattr(self, name) for name in _FILTERS}
        return (Draw.model_construct(count=missing, **own),)

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        used = [name for name in (*_FILTERS, "count") if name in self.model_fields_set]
        if self.draw and used:
            refuse(used[0], f"with `draw`, write `{used[0]}` into its entries")
        if not self.draw and self.count is None and used:
            refuse(used[0], "nothing is drawn here without `count: N`, the number of questions in all")
        if self.count is not None and len(self.items) > self.count:
            refuse(
                "count",
                f"{counted(len(self.items), 'item')} {agree(len(self.items), 'are')} pinned, but "
                f"the count is {self.count}",
            )
        if not self.items and not self.draws:
            refuse("items", "this section asks for nothing: it needs `items`, `count` or `draw`")
        if self.per_student and not self.draws:
            refuse("per_student", "only drawn items can differ, and this section draws none")
        if self.per_student and self.points is None:
            refuse("per_student", "everybody needs the same full marks here: say `points` for each question")
        return self


class Blueprint(_Strict):
    """The whole file; the quiz's name is the file's name.

    ``source``, ``needs`` and ``exclude`` hold for every draw of the file; those of a section or draw narrow
    them further. ``exercises`` are code exercises that go with the quiz and are handed in as files.
    """

    title: str = Field(min_length=1, max_length=200)
    source: tuple[SourceName, ...] = ()
    needs: tuple[EntryId, ...] | None = None
    exclude: tuple[Identifier, ...] = ()
    exercises: tuple[Identifier, ...] = Field(default=(), max_length=20)
    attempts: Whole | None = Field(default=None, ge=1, le=20)
    credit: Credits = ()
    hint_cost: Share | None = None
    retry: Literal["new-variant", "same-variant"] = "same-variant"
    deadline: Deadline | None = None
    show_before: Shown = Shown.FEEDBACK
    show_after: Shown = Shown.SOLUTION
    sections: tuple[Section, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _rules_fit_together(self) -> Self:
        if self.credit and self.attempts is not None and self.attempts != len(self.credit):
            refuse(
                "credit",
                f"{counted(self.attempts, 'attempt')} {agree(self.attempts, 'need')} "
                f"{counted(self.attempts, 'entry')}, not {len(self.credit)}",
            )
        if self.deadline is None and "show_after" in self.model_fields_set:
            refuse("show_after", "without a `deadline` there is no afterwards")
        if self.deadline is not None and not self.show_after.includes(self.show_before):
            refuse("show_after", f"this is less than `show_before: {self.show_before}` has shown already")
        return self

    @property
    def rules(self) -> QuizRules:
        """The rules as a quiz keeps them."""
        return QuizRules(
            attempts=self.attempts or len(self.credit) or None,
            credit=self.credit or (1.0,),
            hint_cost=self.hint_cost,
            new_variants=self.retry == "new-variant",
            deadline=self.deadline,
            show_before=self.show_before,
            show_after=self.show_after,
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A blueprint and where each of its parts stands in its file."""

    blueprint: Blueprint
    document: Document | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of what the blueprint says: layout and comments don't count.

        Keys that came later count only where they are used, so that a quiz drawn by an older version is still
        known as drawn from this blueprint.
        """
        said = _without_unused(self.blueprint.model_dump(mode="json"))
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def refuse(self, faults: Sequence[tuple[Loc, str]]) -> NoReturn:
        """Raise a :class:`QuizError` that shows all these faults at their places."""
        if self.document is None:
            raise QuizError("; ".join(message for _, message in faults))
        document = self.document
        raise QuizError.of_file([document.diagnostic(loc, message) for loc, message in faults])


def _without_unused(said: Any) -> Any:
    if isinstance(said, dict):
        return {
            key: _without_unused(value)
            for key, value in said.items()
            if key not in _LATER_KEYS or value not in (None, [])
        }
    return [_without_unused(entry) for entry in said] if isinstance(said, list) else said


def read_blueprint(path: Path) -> Plan:
    """Read a blueprint file; :class:`QuizError` with every fault's place."""
    document = read_yaml(path, error=QuizError)
    return Plan(validate(document, Blueprint, error=QuizError), document)
