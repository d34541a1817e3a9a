"""Places of scanned sheets that a person decides: what is asked, what can be said, and what was decided.

The command, its page of scans and the site list the same places and check decisions by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from engine.course import Roster
from engine.model import Part
from engine.paper.sheet_questions import SheetFieldKind, SheetQuestion
from engine.scanning.exam_scans import (
    COPY_FIELD,
    STUDENT_FIELD,
    VOID,
    ExamScans,
    ScannedCopy,
    place_words,
)
from engine.scanning.field_texts import refusal
from engine.store.scans import ScanDecision
from engine.text.words import clean_line, count_noun, join_words

BLANK = "-"
"""What stands for an answer that was left empty, in the table, after ``--decide`` and on the site."""
_LONGEST_TEXT = 5_000
# Kinds of which an answer is picked letter by letter; what is entered in the others is typed.
_PICKED = frozenset(
    {SheetFieldKind.SINGLE, SheetFieldKind.MULTIPLE, SheetFieldKind.MATCHING, SheetFieldKind.ORDERING}
)


@dataclass(frozen=True, slots=True)
class OpenPlace:
    """A field that a decision is asked for, as commands and tables name it."""

    exam: str
    copy: int
    field: str
    text: str


@dataclass(frozen=True, slots=True)
class PlaceToDecide:
    """A place of a copy that waits: open, or decided and not handed in yet.

    Parameters
    ----------
    exam : str
        Id of the print.
    scanned : ScannedCopy
    field : str
        As decisions name it.
    reason : str or None
        Why a person must look; None once it is decided.
    guess : str
        What it was read as; empty where that says nothing.
    question : SheetQuestion or None
        None where the whole copy is in question.
    item : str
        Id of the item that is asked there; empty where it isn't about an answer.
    pictures : tuple of str
        PNG files in base64.
    pages : tuple of int
        Where it stands; empty where the whole copy is in question.
    decision : ScanDecision or None
        The one that holds.
    doubtful : frozenset of int
        In which of its rows bubbles are unsure.
    """

    exam: str
    scanned: ScannedCopy
    field: str
    reason: str | None
    guess: str
    question: SheetQuestion | None
    item: str
    pictures: tuple[str, ...]
    pages: tuple[int, ...]
    decision: ScanDecision | None = None
    doubtful: frozenset[int] = frozenset()

    @property
    def copy(self) -> int:
        """Number of the copy."""
        return self.scanned.copy.number

    @property
    def id(self) -> str:
        """Copy and field, which name it within its print."""
        return f"{self.copy}/{self.field}"

    @property
    def heading(self) -> str:
        """What the paper calls it."""
        if self.field == COPY_FIELD:
            return "Whether it counts"
        if self.field == STUDENT_FIELD or self.question is None:
            return "Whose it is"
        return f"Question {self.question.label}"

    @property
    def reason_words(self) -> str:
        """Why a person must look, with what the paper calls the place."""
        # What is asked about a whole copy names it already.
        if self.question is None or self.field in self.scanned.asks:
            return self.reason or ""
        return f"{place_words([self.question], self.field)}: {self.reason}"

    @property
    def choices(self) -> str:
        """What can be decided, in words."""
        if self.field == COPY_FIELD:
            return f"{VOID}: it doesn't count"
        if self.field == STUDENT_FIELD or self.question is None:
            return "the id of a student of the roster"
        return _choice_words(self.question)

    @property
    def example(self) -> str:
        """A decision as the command takes it, to change."""
        if self.field == COPY_FIELD:
            return VOID
        return "ID" if self.field == STUDENT_FIELD else self.guess or "ANSWER"


def places_of(scans: ExamScans, scanned: ScannedCopy) -> Iterator[PlaceToDecide]:
    """Yield the places of a copy in the order of its sheet, those about the whole copy first."""
    fields = {item.name: item for item in scanned.fields}
    number = fields.get(STUDENT_FIELD)
    void = scans.decision(scanned.copy.number, COPY_FIELD)
    if scanned.is_void:
        # Nothing else of it is asked any longer.
        yield PlaceToDecide(scans.exam, scanned, COPY_FIELD, None, "", None, "", (), (), void)
        return
    for name, why in scanned.asks.items():
        place = PlaceToDecide(scans.exam, scanned, name, why, "", None, "", (), ())
        if name == STUDENT_FIELD and number is not None:
            place = replace(place, guess=number.text, question=number.question)
            place = replace(place, pictures=number.pictures, pages=number.pages)
        yield place
    for item in scanned.fields:
        if item.name in scanned.asks or (item.reason is None and item.decision is None):
            continue
        yield PlaceToDecide(
            scans.exam,
            scanned,
            item.name,
            item.reason,
            item.text if item.decision is None else "",
            item.question,
            scans.item_of(scanned.copy.number, item.name),
            item.pictures,
            item.pages,
            item.decision,
            item.doubtful,
        )


def parse_place(value: str) -> OpenPlace:
    """Return what ``PRINT/COPY/QUESTION/PART=TEXT`` decides.

    Raises
    ------
    ValueError
        It has another form; the message says which is expected.
    """
    place, equals, text = value.partition("=")
    exam, _, rest = place.strip().partition("/")
    number, _, name = rest.partition("/")
    if not equals or not number.isascii() or not number.isdigit() or len(number) > 6 or not name:
        raise ValueError(
            f"{clean_line(value, 80)!r} isn't PRINT/COPY/FIELD=TEXT, such as K7QF2MXA/12/3/answer=b"
        )
    return OpenPlace(exam, int(number), name, text.strip())


def decision_of(
    place: OpenPlace,
    scans: ExamScans,
    parts: Mapping[tuple[int, str], Part],
    roster: Roster,
    by: str,
    at: datetime,
) -> ScanDecision:
    """Return a decision as it is stored, if it can be one.

    Raises
    ------
    ValueError
        There is no such copy or field, or its text can't be read as an answer there.
    """
    copy = scans.record.copy(place.copy)
    if copy is None:
        raise ValueError(f"print {place.exam} has no copy {place.copy}")
    text = "" if place.text == BLANK else place.text
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"a decision has at most {count_noun(_LONGEST_TEXT, 'character')}")
    scanned = next((item for item in scans.copies if item.copy.number == place.copy), None)
    if place.field == COPY_FIELD:
        if text != VOID and text:
            raise ValueError(f"a copy can be {VOID}, or {BLANK} to let it count again; not {text!r}")
        return ScanDecision(place.exam, place.copy, copy.student, place.field, text, by, at)
    if scanned is None:
        raise ValueError(f"nothing of copy {place.copy} was scanned")
    item = next((item for item in scanned.fields if item.name == place.field), None)
    if item is None:
        known = join_words([item.name for item in scanned.fields], "and", 12)
        raise ValueError(f"copy {place.copy} has no field {clean_line(place.field, 40)!r}; it has {known}")
    if place.field == STUDENT_FIELD:
        if text not in roster.by_id:
            raise ValueError(f"{clean_line(text, 40)!r} isn't the id of a student in the roster")
        return ScanDecision(place.exam, place.copy, text, place.field, text, by, at)
    reason = refusal(text, parts.get((item.question.number, item.question.part)))
    if reason is not None:
        what = f"copy {place.copy}, {scans.place_words(place.copy, place.field)} ({place.field})"
        raise ValueError(f"{clean_line(text, 60)!r} for {what}: {reason}")
    return ScanDecision(place.exam, place.copy, copy.student, place.field, text, by, at)


def picked_text(question: SheetQuestion, rows: Sequence[Sequence[str]]) -> str:
    """Return the decision that was picked letter by letter, as somebody would have typed it.

    Parameters
    ----------
    question : SheetQuestion
        A choice, a matching or an order.
    rows : sequence of sequence of str
        What was picked in each row: letters, or :data:`BLANK` for none. A choice has one row.

    Raises
    ------
    ValueError
        A row is left undecided, or something was picked that isn't there.
    """
    letters = [[letter for letter in row if letter != BLANK] for row in rows]
    if any(letter not in question.options for row in letters for letter in row):
        raise ValueError(f"only {join_words(question.options, 'and', 30)} can be picked here")
    if question.kind is SheetFieldKind.MULTIPLE:
        return ", ".join(letter for letter in question.options if letter in letters[0]) or BLANK
    undecided = [name for name, row in zip(question.rows or ("",), rows, strict=False) if len(row) != 1]
    if undecided:
        where = f" in row {undecided[0]}" if question.rows else ""
        raise ValueError(f"nothing is picked{where}: pick a letter, or that it was left empty")
    if question.kind is SheetFieldKind.MATCHING:
        pairs = zip(question.rows, letters, strict=True)
        return ", ".join(f"{name}-{row[0]}" for name, row in pairs if row) or BLANK
    return ", ".join(row[0] for row in letters if row) or BLANK


def picks_of(place: PlaceToDecide) -> list[list[str]] | None:
    """Return what to pick beforehand in each row: what was surely read there; None where text is typed."""
    question = place.question
    if question is None or question.kind not in _PICKED or place.field == STUDENT_FIELD:
        return None
    letters = place.guess.split(", ") if place.guess else []
    if question.kind is SheetFieldKind.MULTIPLE:
        return [[letter for letter in question.options if letter in letters]]
    count = len(question.rows) or 1
    # Of a single choice one key decides: what is picked already would only be sent unread.
    if not question.rows or not place.guess:
        return [[] for _ in range(count)]
    if question.kind is SheetFieldKind.MATCHING:
        pairs = dict(pair.split("-", 1) for pair in letters)
        rows = [[pairs.get(name, BLANK)] for name in question.rows]
    else:
        # The text of an order doesn't say which of its places are empty.
        rows = [[letter] for letter in letters] if len(letters) == count else [[] for _ in range(count)]
    return [[] if row in place.doubtful else picks for row, picks in enumerate(rows)]


def decided_place(scans: ExamScans, decision: ScanDecision) -> str:
    """Return what a decision is about, with the number of its question on paper."""
    return f"copy {decision.copy}, {scans.place_words(decision.copy, decision.field)}"


def _choice_words(question: SheetQuestion) -> str:
    blank = f"{BLANK} for left empty"
    letters = join_words(question.options, "or", 30) if question.options else ""
    if question.kind is SheetFieldKind.SINGLE:
        return f"{letters}; {blank}"
    if question.kind is SheetFieldKind.MULTIPLE:
        return f"any of {join_words(question.options, 'and', 30)}, such as a, c; {blank}"
    if question.kind is SheetFieldKind.MATCHING:
        return f"a letter for each row, such as {question.rows[0]}-{question.options[0]}; {blank}"
    if question.kind is SheetFieldKind.ORDERING:
        return f"all letters, first to last; {blank}"
    if question.kind is SheetFieldKind.BOX:
        return f"what is written, as it would be typed; {blank}"
    count = len(question.rows)
    return f"{'a number' if not count else count_noun(count, 'number') + ' in brackets'}; {blank}"
