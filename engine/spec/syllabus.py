"""The syllabus: what a course covers, as entries that items name in ``covers``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, RootModel

from engine.spec.kinds import EntryId, Identifier, Sentence
from engine.spec.schema import Strict
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml

__all__ = ["SYLLABUS_FILE", "Entry", "Syllabus", "load_syllabus"]

SYLLABUS_FILE = "syllabus.yaml"


class Entry(Strict):
    """One equation, algorithm, claim … that items cover."""

    title: Sentence = Field(description="What the entry stands for.")
    where: Sentence | None = Field(default=None, description="Where the lectures have it.")
    no_item: Sentence | None = Field(default=None, description="Why no item covers it.")


class Syllabus(RootModel[dict[Identifier, dict[EntryId, Entry]]]):
    """The file ``syllabus.yaml``: by group (equations, claims …) the entries by id."""

    root: dict[Identifier, dict[EntryId, Entry]]


def load_syllabus(path: Path) -> Mapping[str, Mapping[str, Entry]]:
    """Return the entries of a syllabus file by group and id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), Syllabus).root
