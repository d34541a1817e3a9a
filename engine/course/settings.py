"""``course.yaml``: what an instructor may set."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

from engine.course.policies.schema import Policies
from engine.errors import CourseError, Diagnostic, InputError, SpecError
from engine.foreign import clean_line

if TYPE_CHECKING:
    from engine.spec.places import Document

__all__ = ["CourseSettings", "check_title", "read_settings", "settings_text"]


PackageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
_HOLDING_KEYS = frozenset({"cli", "engine", "problems", "reference"})


class CourseSettings(BaseModel):
    """The whole file; unknown keys are errors.

    ``store`` is a path from the course folder, or ``postgresql://…``. ``errata: hide`` leaves out the notes
    on faults of the lectures that the built-in items come from. ``packages`` are what students' code may
    import beside the standard library, numpy and torch; None stands for a few common ones. ``decimal_comma:
    true`` says that a comma between digits is a decimal mark in every field that takes numbers.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    mode: Literal["practice", "marks"] = "marks"
    store: Annotated[str, StringConstraints(min_length=1, max_length=500)] = ".softmark/store.db"
    errata: Literal["show", "hide"] = "show"
    decimal_comma: bool = False
    packages: tuple[PackageName, ...] | None = Field(default=None, max_length=50)
    policies: Policies = Field(default_factory=Policies)

    @field_validator("packages")
    @classmethod
    def _no_keys(cls, packages: tuple[str, ...] | None) -> tuple[str, ...] | None:
        hidden = sorted(_HOLDING_KEYS.intersection(packages or ()))
        if hidden:
            raise PydanticCustomError(
                "package", "{text}", {"text": f"{hidden[0]} isn't offered: it computes the keys of the items"}
            )
        return packages

    @field_validator("store")
    @classmethod
    def _known_store(cls, store: str) -> str:
        scheme, mark, _ = store.partition("://")
        if mark and scheme.partition("+")[0] != "postgresql":
            raise PydanticCustomError(
                "store_address",
                "{text}",
                {"text": "a store is a path from this folder or postgresql://user@host/name"},
            )
        return store


# Who is graded at all, and what the times of hand-ins mean: a fault here stops everything, since what is
# stored by a wrong answer stays.
_NO_RULES = ("unlisted_students", "timezone")


def read_settings(path: Path) -> tuple[CourseSettings, tuple[Diagnostic, ...]]:
    """Read ``course.yaml``; faults of the rules about marks don't keep it from being used.

    Returns
    -------
    CourseSettings, tuple of Diagnostic
        The faults under ``policies``. Where there are any, no rule about marks is in the settings: half
        of the rules would give wrong marks.

    Raises
    ------
    SpecError
        Anything else is faulty; with all faults.
    """
    from engine.spec.validation import in_order, validation_faults
    from engine.spec.yaml_source import read_yaml

    document = read_yaml(path)
    settings, faults = validation_faults(document, CourseSettings)
    if settings is None:
        settings = _without_rules(document)
    if settings is None:
        raise SpecError.of_file(in_order(faults))
    return settings, tuple(in_order(faults))


def _without_rules(document: Document) -> CourseSettings | None:
    from engine.spec.validation import validation_faults

    if not isinstance(document.data, dict):
        return None
    rules = document.data.get("policies")
    kept = {k: v for k, v in rules.items() if k in _NO_RULES} if isinstance(rules, dict) else {}
    # Perhaps it was the release that can't be read: no page may show what it would have kept back.
    kept |= {"assignments": {"default": {"release": "never"}}}
    return validation_faults(replace(document, data={**document.data, "policies": kept}), CourseSettings)[0]


def check_title(title: str) -> None:
    """Raise a :class:`CourseError` if a course.yaml with this title couldn't be read again."""
    from engine.spec.validation import validation_faults
    from engine.spec.yaml_source import read_yaml

    try:
        text = settings_text(title).encode("utf-8")
        faults = validation_faults(read_yaml(text, "course.yaml"), CourseSettings)[1]
        reason = faults[0].message if faults else None
    except UnicodeEncodeError:
        reason = "it holds half a character"
    except InputError as error:
        reason = error.what
    if reason is not None:
        raise CourseError(
            "this can't be the title of a course",
            expected="a line of text",
            got=f"{clean_line(title, 60)!r}: {reason}",
            next_step="give another one with --title",
        )


def settings_text(title: str) -> str:
    """Return a new course's ``course.yaml``."""
    import json

    # A JSON string is a YAML string: no title can break out of its line.
    return f"""\
title: {json.dumps(title, ensure_ascii=False)}
# marks: results count and reach the gradebook. practice: they never do.
mode: marks
# A path from this folder, or postgresql://user@host/name
store: .softmark/store.db
# show: items say where the lectures that they come from are at fault. hide: they don't.
errata: show
# What students' code may import beside the standard library, numpy and torch, by the name in the import.
# Without this line: einops, jaxtyping, pandas and scipy, as far as they are installed.
# packages: [scipy, einops, pandas]
policies:
  # grade: hand-ins of people who aren't in roster.csv are graded and listed. refuse: they aren't graded.
  unlisted_students: grade
  # Due dates are in this zone; add them under `assignments:`, and see: grade course check
  # timezone: Europe/Berlin
"""
