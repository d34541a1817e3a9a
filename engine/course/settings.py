"""``course.yaml``: what an instructor may set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator
from pydantic_core import PydanticCustomError

__all__ = ["CourseSettings", "Policies", "settings_text"]


class Policies(BaseModel):
    """Rules that a course decides.

    ``unlisted_students``: whether hand-ins of people who aren't in the roster are graded (and
    listed as such) or refused.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    unlisted_students: Literal["grade", "refuse"] = "grade"


class CourseSettings(BaseModel):
    """The whole file; unknown keys are errors.

    ``store`` is a path from the course folder, or ``postgresql://…``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    mode: Literal["practice", "marks"] = "marks"
    store: Annotated[str, StringConstraints(min_length=1, max_length=500)] = ".softmark/store.db"
    policies: Policies = Field(default_factory=Policies)

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
policies:
  # grade: hand-ins of people who aren't in roster.csv are graded and listed. refuse: they aren't graded.
  unlisted_students: grade
"""
