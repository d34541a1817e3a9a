"""What a course covers and in which terms: the entries of ``covers`` and those of ``needs``.

The syllabus says what items are about, so that ``grade coverage`` finds what nobody asks. The terms say
what an item presupposes, so that a quiz of week 1 doesn't ask what week 3 teaches. Both are data of the bank;
a course's own files add to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field, RootModel

from engine.spec.kinds import EntryId, Identifier, Sentence, Word
from engine.spec.schema import Strict
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml

__all__ = ["SYLLABUS_FILE", "TERMS_FILE", "Entry", "Syllabus", "Term", "load_syllabus", "load_terms"]

SYLLABUS_FILE = "syllabus.yaml"
TERMS_FILE = "terms.yaml"


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


class Term(Strict):
    """One term that has to be taught before items may use it, or a document whose notation they may quote."""

    title: Sentence = Field(description="What the term stands for.")
    words: tuple[Word, ...] = Field(
        default=(), max_length=40, description="Words by which a text shows the term; plurals count too."
    )

    def shown_in(self, text: str) -> str | None:
        """Return the first of the words that stands in a text, as it is written there; None if none does.

        Capitals don't matter, but in names that begin with one: ``S1`` isn't ``s1``, a state.
        """
        for word in self.words:
            flags = re.NOFLAG if word[:1].isupper() else re.IGNORECASE
            match = re.search(rf"(?<![A-Za-z0-9]){re.escape(word)}s?(?![A-Za-z0-9])", text, flags)
            if match is not None:
                return match[0]
        return None


class _Terms(RootModel[dict[EntryId, Term]]):
    """The file ``terms.yaml``."""

    root: dict[EntryId, Term]


def load_terms(path: Path) -> Mapping[str, Term]:
    """Return the terms of a file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    return validate(read_yaml(path, keep_going=True), _Terms).root
