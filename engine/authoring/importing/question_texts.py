"""The texts, id, title and topics of an imported question, with a note of all that they lose."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.authoring.importing.foreign_question import FilePlace, ImportNote, MarkedText
from engine.authoring.importing.text_blocks import Block, TextTooLong, plain_characters
from engine.authoring.importing.to_markdown import ConvertedText, convert, read_blocks, written_blocks
from engine.items.bank import REGISTRY_FILE, SYLLABUS_FILE

# put in by Moodle where an author writes nothing
_USUAL = {"your answer is correct", "your answer is incorrect", "your answer is partially correct"}


class UnfitError(Exception):
    """A question has no counterpart here.

    Parameters
    ----------
    reason : str
    next_step : str
        What its author can do.
    """

    def __init__(self, reason: str, next_step: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.next_step = next_step


class QuestionTexts:
    """Converts the texts of one question; ``notes`` collects what is lost."""

    def __init__(self) -> None:
        self.notes: list[ImportNote] = []

    def note(self, message: str, place: FilePlace | None = None) -> None:
        """Add a note on something that isn't kept, or that somebody should look at."""
        self.notes.append(ImportNote(message, place))

    def needed(
        self, markup: MarkedText, label: str, *, inline: bool = True, place: FilePlace | None = None
    ) -> ConvertedText:
        """Return a text that may not be empty.

        Raises
        ------
        UnfitError
            Nothing of it can be shown, or it is too long.
        """
        converted = self._converted(markup, label, inline, place)
        if not converted.prose:
            why = f": {'; '.join(converted.lost[:3])}" if converted.lost else ""
            raise UnfitError(
                f"{label} holds nothing that can be shown here{why}", "say it in words or formulas"
            )
        return converted

    def optional(
        self, markup: MarkedText, label: str, *, inline: bool = True, place: FilePlace | None = None
    ) -> str:
        """Return a text that may be missing; empty where nothing of it can be shown.

        Raises
        ------
        UnfitError
            It is too long.
        """
        return self._converted(markup, label, inline, place).prose if markup else ""

    def feedback(self, markup: MarkedText, label: str, *, place: FilePlace | None = None) -> str:
        """Return feedback; empty for the sentences that Moodle puts in by itself."""
        text = self.optional(markup, label, place=place)
        return "" if text.casefold().strip(" .*!") in _USUAL else text

    def blocks(self, markup: MarkedText, label: str, *, place: FilePlace | None = None) -> Sequence[Block]:
        """Return a text's blocks, to be taken apart before they are written.

        Raises
        ------
        UnfitError
            It is too long.
        """
        try:
            blocks, lost = read_blocks(markup)
        except TextTooLong as problem:
            raise self._too_long(label, problem) from None
        self._note_losses(label, lost, place)
        return blocks

    def written(self, blocks: Sequence[Block], label: str, *, inline: bool = False) -> ConvertedText:
        """Return blocks as a text of ours.

        Raises
        ------
        UnfitError
            It is too long.
        """
        try:
            converted = written_blocks(blocks, inline=inline)
        except TextTooLong as problem:
            raise self._too_long(label, problem) from None
        self._note_losses(label, converted.lost, None)
        return converted

    def _note_losses(self, label: str, lost: Sequence[str], place: FilePlace | None) -> None:
        for loss in lost:
            self.note(f"{label}: {loss}", place)

    @staticmethod
    def _too_long(label: str, problem: TextTooLong) -> UnfitError:
        return UnfitError(f"{label}: {problem}", "shorten it, or make several questions of it")

    def _converted(
        self, markup: MarkedText, label: str, inline: bool, place: FilePlace | None
    ) -> ConvertedText:
        try:
            converted = convert(markup, inline=inline)
        except TextTooLong as problem:
            raise self._too_long(label, problem) from None
        self._note_losses(label, converted.lost, place)
        return converted


def excerpt(text: str) -> str:
    """Return a text of the question as a note quotes it."""
    line = " ".join(text.split())
    return f"'{line if len(line) <= 40 else line[:39] + '…'}'"


# the schema's limits; an id leaves room for the number that makes it unique
MAX_ID, MAX_TITLE, MAX_TOPICS = 56, 120, 20
_LETTERS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
_GREEK = re.compile(r"GREEK (?:SMALL|CAPITAL) LETTER ([A-Z]+)")
_NOT_ITEMS = {Path(name).stem for name in (REGISTRY_FILE, SYLLABUS_FILE)}
# names of devices, under which Windows can't store a file
_NOT_FILES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
# folders that Moodle makes by itself, such as $course$
_ROOTS = re.compile(r"\$\w+\$|top|default for .*", re.IGNORECASE)
_SPLIT = re.compile(r"(?<!/)/(?!/)")  # Moodle doubles a slash that belongs to a name


def slug(text: str, limit: int = MAX_ID) -> str:
    """Return small letters, digits and hyphens that recall a text; empty if there are none."""
    spelt = "".join(_spelt(character) for character in text.casefold())
    words = re.findall(r"[a-z0-9]+", spelt)
    name = "-".join(words)
    if len(name) > limit:
        name = name[: limit + 1].rpartition("-")[0] or name[:limit]
    if name and not name[0].isalpha():
        name = f"q-{name}"[:limit].rstrip("-")
    return f"{name}-item" if name in _NOT_FILES | _NOT_ITEMS else name


def _spelt(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    greek = _GREEK.match(unicodedata.name(character, ""))
    if greek is not None:
        return f" {greek[1].lower()} "
    decomposed = unicodedata.normalize("NFKD", character)
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("'", "")


def candidates(name: str, number: int) -> Iterator[str]:
    """Yield ids for a question, of which the first free one is used: ``x``, ``x-2``, ``x-3`` …"""
    first = slug(name) or f"question-{number}"
    yield first
    for suffix in range(2, 100_000):
        yield f"{first}-{suffix}"


def title_of(name: str, words: str) -> str:
    """Return a title from a question's name, or from its first words where it has none."""
    title = _one_line(name) or _one_line(words)
    if len(title) < 3:
        title = f"Question {title}".strip()
    return title if len(title) <= MAX_TITLE else title[: MAX_TITLE - 1].rstrip() + "…"


def _one_line(text: str) -> str:
    return " ".join(plain_characters(text[:1000])[0].split())


def topics_of(category: str, tags: Sequence[str]) -> list[str]:
    """Return topics from the folders of a category and the tags, ``imported`` if there are none."""
    folders = [part.replace("//", "/").strip() for part in _SPLIT.split(category)]
    folder_names = [part for part in folders if part and not _ROOTS.fullmatch(part)]
    topics = [slug(part, 60) for part in [*folder_names, *tags]]
    return list(dict.fromkeys(filter(None, topics)))[:MAX_TOPICS] or ["imported"]
