"""What the items of a bank share: sentences for known mistakes, the syllabus, and the terms that were taught.

The registry says what a learner with a known mistake reads, so that the sentence for ``m-base2`` stands once
and not in thirty items. The syllabus says what items are about, so that ``grade coverage`` finds topics
without an item. The terms say what an item presupposes, so that a quiz of week 1 doesn't ask what week 3
teaches. All three are data of the bank; a course's own files add to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Discriminator, Field, RootModel, Tag

from engine.items.bank import REGISTRY_FILE, builtin_root
from engine.items.field_types import EntryId, Identifier, MisconceptionId, Sentence, StrictModel, Word
from engine.text.yaml import read_yaml, validate


class KnownMistake(StrictModel):
    """A known mistake: the wrong formula, for lecturers, and the sentence for learners."""

    feedback: Sentence = Field(description="What is observed in the answer, and what would be right.")
    formula: Sentence | None = Field(default=None, description="The wrong formula, in words or symbols.")


def _form(value: Any) -> str:
    # a tag, so that a fault is reported for the form that was written and not for both
    return "mapping" if isinstance(value, dict | KnownMistake) else "text"


class MisconceptionRegistry(RootModel[dict[MisconceptionId, Any]]):
    """The file ``misconceptions.yaml``: by id a sentence, or ``feedback`` and ``formula``."""

    root: dict[
        MisconceptionId,
        Annotated[
            Annotated[Sentence, Tag("text")] | Annotated[KnownMistake, Tag("mapping")], Discriminator(_form)
        ],
    ]


def load_registry(path: Path) -> dict[str, str]:
    """Return the sentences of a registry file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    entries = validate(read_yaml(path, keep_going=True), MisconceptionRegistry).root
    return {
        # a sentence folded over several lines is one line for students
        name: entry.feedback if isinstance(entry, KnownMistake) else " ".join(entry.split())
        for name, entry in entries.items()
    }


@lru_cache(maxsize=1)
def builtin_registry() -> Mapping[str, str]:
    """Return the built-in registry; read once."""
    return MappingProxyType(load_registry(builtin_root() / REGISTRY_FILE))


class SyllabusEntry(StrictModel):
    """One equation, algorithm, claim … that items cover."""

    title: Sentence = Field(description="What the entry stands for.")
    where: Sentence | None = Field(default=None, description="Where the lectures have it.")
    no_item: Sentence | None = Field(default=None, description="Why no item covers it.")


class Syllabus(RootModel[dict[Identifier, dict[EntryId, SyllabusEntry]]]):
    """The file ``syllabus.yaml``: by group (equations, claims …) the entries by id."""

    root: dict[Identifier, dict[EntryId, SyllabusEntry]]


def load_syllabus(path: Path) -> Mapping[str, Mapping[str, SyllabusEntry]]:
    """Return the entries of a syllabus file by group and id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), Syllabus).root


class TaughtTerm(StrictModel):
    """A term that has to be taught before items may use it, or a document whose notation they may quote."""

    title: Sentence = Field(description="What the term stands for.")
    words: tuple[Word, ...] = Field(
        default=(), max_length=40, description="Words by which a text shows the term; plurals count too."
    )

    def shown_in(self, text: str) -> str | None:
        """Return the first of the words that occurs in a text, as it is written there; None if none does.

        Case is ignored, except for words that begin with a capital: ``S1`` is a lecture, ``s1`` a state.
        """
        for word in self.words:
            flags = re.NOFLAG if word[:1].isupper() else re.IGNORECASE
            # whole words, and their plurals: "key" isn't in "monkey"
            match = re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}s?(?![A-Za-z0-9])", text, flags)
            if match is not None:
                return match[0]
        return None


class _Terms(RootModel[dict[EntryId, TaughtTerm]]):
    """The file ``terms.yaml``."""

    root: dict[EntryId, TaughtTerm]


def load_terms(path: Path) -> Mapping[str, TaughtTerm]:
    """Return the terms of a file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), _Terms).root
