"""The plan of a quiz as a lecturer writes it: sections, and the rules for whoever takes it.

A section names its items, or says by topic, difficulty and kind which may be drawn. Keys that contradict each
other are refused here, with file and line, before anything is drawn for a class.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn, Self

from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticKnownError

from engine.answers import answer_types
from engine.errors import QuizError, UsageError
from engine.items.bank import builtin_root
from engine.items.field_types import (
    EntryId,
    Flag,
    Identifier,
    Real,
    SourceName,
    StrictModel,
    Whole,
    fault_here,
    refuse,
)
from engine.model import QuizRules, ResultDisclosure
from engine.text.schema_errors import describe
from engine.text.words import agree, count_noun
from engine.text.yaml import read_yaml, validate
from engine.text.yaml_errors import Loc, YamlDocument

_EXAMPLE = "a time with its zone, such as 2026-12-01T23:59+01:00"


def difficulty_range(value: Any) -> Any:
    """Let ``difficulty: 3`` stand for ``[3, 3]``; refuse bounds that no item has."""
    # True is an int in Python, and `difficulty: yes` a slip.
    bounds = [value, value] if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise fault_here(f"a number from 1 to 5 or two, such as [1, 3], was expected, not {describe(value)}")
    if any(isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= 5 for n in bounds):
        raise fault_here("a difficulty is a whole number from 1 to 5")
    if bounds[0] > bounds[1]:
        raise fault_here(
            f"the range goes from {bounds[0]} down to {bounds[1]}; write the smaller number first"
        )
    return bounds


def _deadline(value: Any) -> Any:
    if isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(value.strip()) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None:
        raise fault_here(f"{_EXAMPLE} was expected, not {describe(value)}")
    # Without a zone a deadline would mean another moment on another machine.
    if moment.tzinfo is None:
        raise fault_here(f"this time has no zone; expected: {_EXAMPLE}")
    # Within what can be written in every zone; other years are slips of the pen.
    if not 1970 <= moment.year <= 2999:
        raise fault_here(f"a year from 1970 to 2999 was expected, not {moment.year}")
    return moment


def _falling(shares: tuple[float, ...]) -> tuple[float, ...]:
    for earlier, later in pairwise(shares):
        if later > earlier:
            raise fault_here(
                f"a later attempt can't earn more than an earlier one: {later:g} after {earlier:g}"
            )
    return shares


Share = Annotated[Real, Field(ge=0, le=1)]
Credits = Annotated[
    tuple[Annotated[Real, Field(gt=0, le=1)], ...], Field(max_length=20), AfterValidator(_falling)
]
Deadline = Annotated[datetime, BeforeValidator(_deadline)]


def _item_kind(value: Any) -> Any:
    """Let a filter name any answer type whose answers are typed, and items of several steps."""
    kinds = (*answer_types(), "steps")
    if value in kinds:
        return value
    names = [f"'{kind}'" for kind in kinds]
    raise PydanticKnownError("literal_error", {"expected": ", ".join(names)})


Kind = Annotated[str, BeforeValidator(_item_kind)]
Bloom = Literal["remember", "understand", "apply", "analyse", "evaluate", "create"]
Difficulty = Annotated[tuple[Whole, Whole], BeforeValidator(difficulty_range)]
# Keys that blueprints have had only since some version: see `PlacedBlueprint.fingerprint`.
_LATER_KEYS = frozenset(
    {"source", "needs", "exclude", "exercises", "time_limit", "show_before", "show_after"}
)
_FILTERS = ("topics", "types", "difficulty", "bloom", "source", "needs", "exclude")


class _Filter(StrictModel):
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


class _ResultFilter(_Filter):
    """What is shown of these questions before and after the deadline, where it isn't what the quiz says."""

    show_before: ResultDisclosure | None = None
    show_after: ResultDisclosure | None = None


class DrawRule(_ResultFilter):
    """``count`` items that match the filters."""

    count: Whole = Field(ge=1, le=100)


class BlueprintSection(_ResultFilter):
    """Part of a blueprint: pinned items, then drawn ones.

    Drawn are ``count`` questions less the pinned ones, or what the entries of ``draw`` ask for.
    ``points`` are those of each question. With ``per_student`` each student draws other items.
    ``show_before`` and ``show_after`` hold for this section's questions, those of an entry of ``draw`` for
    its own.
    """

    title: str = Field(default="", max_length=200)
    items: tuple[Identifier, ...] = Field(default=(), max_length=100)
    count: Whole | None = Field(default=None, ge=1, le=100)
    draw: tuple[DrawRule, ...] = Field(default=(), max_length=100)
    points: Real | None = Field(default=None, gt=0, le=1000)
    per_student: Flag = False

    @property
    def draws(self) -> tuple[DrawRule, ...]:
        """What is drawn, entry by entry."""
        missing = (self.count or 0) - len(self.items)
        if self.draw or missing <= 0:
            return self.draw
        filters = {name: getattr(self, name) for name in _FILTERS}
        return (DrawRule.model_construct(count=missing, **filters),)

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
                f"{count_noun(len(self.items), 'item')} {agree(len(self.items), 'are')} pinned, but "
                f"the count is {self.count}",
            )
        if not self.items and not self.draws:
            refuse("items", "this section asks for nothing: it needs `items`, `count` or `draw`")
        if self.per_student and not self.draws:
            refuse("per_student", "only drawn items can differ, and this section draws none")
        if self.per_student and self.points is None:
            refuse("per_student", "everybody needs the same full marks here: say `points` for each question")
        return self


class Blueprint(StrictModel):
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
    time_limit: Whole | None = Field(default=None, ge=1, le=10_080)  # minutes; at most a week
    show_before: ResultDisclosure = ResultDisclosure.FEEDBACK
    show_after: ResultDisclosure = ResultDisclosure.SOLUTION
    sections: tuple[BlueprintSection, ...] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _rules_fit_together(self) -> Self:
        if self.credit and self.attempts is not None and self.attempts != len(self.credit):
            refuse(
                "credit",
                f"{count_noun(self.attempts, 'attempt')} {agree(self.attempts, 'need')} "
                f"{count_noun(self.attempts, 'entry')}, not {len(self.credit)}",
            )
        if self.deadline is None and "show_after" in self.model_fields_set:
            refuse("show_after", "without a `deadline` there is no afterwards")
        if self.deadline is not None and not self.show_after.includes(self.show_before):
            refuse("show_after", f"this is less than `show_before: {self.show_before}` has shown already")
        for index, section in enumerate(self.sections):
            self._check_shown(("sections", index), section, self.show_before, self.show_after)
            before, after = section.show_before or self.show_before, section.show_after or self.show_after
            for place, draw in enumerate(section.draw):
                self._check_shown(("sections", index, "draw", place), draw, before, after)
        return self

    def _check_shown(
        self,
        loc: tuple[int | str, ...],
        entry: _ResultFilter,
        before: ResultDisclosure,
        after: ResultDisclosure,
    ) -> None:
        """Refuse what an entry says against what it takes from the section or quiz around it."""
        if entry.show_after is not None and self.deadline is None:
            refuse((*loc, "show_after"), "without a `deadline` there is no afterwards")
        before, after = entry.show_before or before, entry.show_after or after
        if self.deadline is not None and not after.includes(before):
            key = "show_before" if entry.show_before is not None else "show_after"
            refuse(
                (*loc, key), f"`show_after: {after}` is less than `show_before: {before}` has shown already"
            )

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
            time_limit=self.time_limit,
        )


@dataclass(frozen=True, slots=True)
class PlacedBlueprint:
    """A blueprint and where each of its parts is in its file."""

    blueprint: Blueprint
    document: YamlDocument | None = None

    @property
    def fingerprint(self) -> str:
        """A hash of what the blueprint says: layout and comments don't count.

        Keys that came later count only where they are used, so that a quiz drawn by an older version is still
        known as drawn from this blueprint.
        """
        content = _without_unused(self.blueprint.model_dump(mode="json"))
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def refuse(self, faults: Sequence[tuple[Loc, str]]) -> NoReturn:
        """Raise a :class:`QuizError` that shows all these faults at their places."""
        if self.document is None:
            raise QuizError("; ".join(message for _, message in faults))
        document = self.document
        raise QuizError.of_file([document.diagnostic(loc, message) for loc, message in faults])


def _without_unused(content: Any) -> Any:
    if isinstance(content, dict):
        return {
            key: _without_unused(value)
            for key, value in content.items()
            if key not in _LATER_KEYS or value not in (None, [])
        }
    return [_without_unused(entry) for entry in content] if isinstance(content, list) else content


def deadline_of(text: str) -> datetime | None:
    """Return the deadline that somebody typed, as in a blueprint; None for ``none``.

    Raises
    ------
    UsageError
        It is no time, or has no zone.
    """
    if text == "none":
        return None
    # The same type as in a blueprint, so that both take the same forms and refuse times without a zone.
    try:
        moment: datetime = TypeAdapter(Deadline).validate_python(text)
    except ValidationError as error:
        raise UsageError(error.errors()[0]["msg"], got=repr(text)) from None
    return moment


def blueprint_folders(course: Path | None) -> list[Path]:
    """Return where blueprints lie: a course's folder of them, if there is one, then the built-in one."""
    return [*([course] if course else []), builtin_root() / "blueprints"]


def find_blueprint(name: str, folders: Sequence[Path]) -> Path:
    """Return the file of a blueprint: a path ending in ``.yaml``, or a name in the first folder with it.

    Raises
    ------
    QuizError
        There is none; the message lists the names that there are.
    """
    if name.endswith((".yaml", ".yml")):
        if not Path(name).is_file():
            raise QuizError("no such blueprint file", where=name)
        return Path(name)
    if Path(name).is_file():
        raise QuizError(
            "this is neither a quiz file nor a blueprint", where=name, expected="a file NAME.yaml"
        )
    for folder in folders:
        if (folder / f"{name}.yaml").is_file():
            return folder / f"{name}.yaml"
    known = sorted({path.stem for folder in folders for path in folder.glob("*.yaml")})
    raise QuizError(f"no blueprint {name!r}", expected=", ".join(known) or "a blueprint file", got=name)


def read_blueprint(path: Path) -> PlacedBlueprint:
    """Read a blueprint file; :class:`QuizError` with every fault's place."""
    document = read_yaml(path, error=QuizError)
    return PlacedBlueprint(validate(document, Blueprint, error=QuizError), document)
