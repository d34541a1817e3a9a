"""The plan of a quiz: which items are pinned, and from what the others are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from engine.errors import QuizError
from engine.foreign import clean_line
from engine.spec.bank import Bank
from engine.spec.schema import ProblemSpec
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml
from engine.variants.stream import Stream

__all__ = ["Blueprint", "Section", "choose_items", "read_blueprint"]

ItemId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$", max_length=64)]


class Section(BaseModel):
    """Part of a blueprint: pinned items, then drawn ones that match every filter.

    ``count`` is the number of questions in all; left out, the pinned items alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = ""
    items: tuple[ItemId, ...] = ()
    count: int | None = Field(default=None, ge=1, le=100)
    topics: tuple[ItemId, ...] = ()
    types: tuple[str, ...] = ()
    difficulty: tuple[int, int] = (1, 5)
    bloom: tuple[str, ...] = ()
    points: float | None = Field(default=None, gt=0)


class Blueprint(BaseModel):
    """The plan of a quiz; its name is the file's name."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=200)
    sections: tuple[Section, ...] = Field(min_length=1)


def read_blueprint(path: Path) -> Blueprint:
    """Read a blueprint file; :class:`QuizError` with every fault's place."""
    return validate(read_yaml(path, error=QuizError), Blueprint, error=QuizError)


def _matches(spec: ProblemSpec, section: Section) -> bool:
    low, high = section.difficulty
    return (
        spec.kind != "code"
        and low <= spec.difficulty <= high
        and (not section.topics or bool(set(section.topics) & set(spec.topics)))
        and (not section.types or spec.kind in section.types)
        and (not section.bloom or spec.bloom in section.bloom)
    )


def choose_items(
    blueprint: Blueprint, bank: Bank, secret: bytes, name: str
) -> list[tuple[str, float | None]]:
    """Return (item id, points) in order: the same families for everybody who takes quiz `name`.

    Parameters
    ----------
    blueprint : Blueprint
    bank : Bank
    secret : bytes
        The course secret: nobody else can foresee the choice.
    name : str
        Name of the quiz; another name, another choice.

    Returns
    -------
    list of (str, float or None)
        Points are None where the item's own count.

    Raises
    ------
    QuizError
        A pinned item is a code exercise or appears twice; a section pins more than its count,
        asks for nothing, or finds fewer matching items than it asks for.
    """
    pinned = [item for section in blueprint.sections for item in section.items]
    doubled = sorted({item for item in pinned if pinned.count(item) > 1})
    if doubled:
        raise QuizError(f"item {doubled[0]} is pinned twice", expected="each item once in a quiz")
    chosen: list[tuple[str, float | None]] = []
    taken = set(pinned)
    for index, section in enumerate(blueprint.sections):
        items = _pinned_items(section, bank)
        missing = _missing(section, index)
        if missing:
            pool = [s.id for s in bank.readable()[0] if s.id not in taken and _matches(s, section)]
            if len(pool) < missing:
                raise QuizError(
                    f"section {index + 1} ({clean_line(section.title) or 'untitled'}) finds too few items",
                    expected=f"{missing} more items that match its topics, types, difficulty and Bloom level",
                    got=str(len(pool)),
                    next_step="widen the section, or see: grade list",
                )
            stream = Stream.keyed(secret, f"quiz:{name}:section:{index}", "", 0)
            drawn = stream.shuffled(pool)[:missing]
            taken.update(drawn)
            items += drawn
        chosen += [(item, section.points) for item in items]
    return chosen


def _pinned_items(section: Section, bank: Bank) -> list[str]:
    for item in section.items:
        if bank.load(item).kind == "code":
            raise QuizError(
                f"item {item} is a code exercise, which can't be a quiz question",
                next_step=f"leave it out; students hand it in with: grade submit {item} FILE",
            )
    return list(section.items)


def _missing(section: Section, index: int) -> int:
    """Return how many items are drawn besides the pinned ones."""
    missing = (section.count or len(section.items)) - len(section.items)
    if missing < 0:
        raise QuizError(
            f"section {index + 1} pins more items than its count",
            expected=f"at most {section.count}",
            got=str(len(section.items)),
        )
    if not section.items and not missing:
        raise QuizError(f"section {index + 1} asks for nothing", expected="count or items")
    return missing
