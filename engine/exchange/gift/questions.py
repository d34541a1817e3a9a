"""The questions of a GIFT file."""

from __future__ import annotations

from engine.exchange.gift.answers import Field, marked_form, read_field
from engine.exchange.gift.blocks import Block, split_blocks
from engine.exchange.gift.escapes import find_marks, first_mark, unescaped
from engine.exchange.question import Contents, Form, Kind, Markup, Place, Question, Skip
from engine.exchange.reading import MAX_QUESTIONS, Faults, Source
from engine.exchange.soundness import check_question

__all__ = ["GAP", "read_gift"]

GAP = "_____"
"""Stands in a text where a word is missing."""
MAX_CHARACTERS = 4 * 2**20
MAX_LINES = 100_000

_ESSAY = (
    "a free text is marked by a person",
    "ask for something that can be marked by itself, such as a choice",
)
_DESCRIPTION = (
    "it only shows a text and asks nothing",
    "put the text into the stem of the items that need it",
)


def read_gift(source: Source) -> Contents:
    """Return the questions of a file, what has no counterpart here, and every fault with its place."""
    faults = Faults(source)
    questions: list[Question] = []
    skipped: list[Skip] = []
    was_open = False
    if len(source.text) > MAX_CHARACTERS:
        faults.add(
            Place(), f"a GIFT file has at most {MAX_CHARACTERS // 2**20} MiB; make several files of it"
        )
        return Contents(faults=faults.in_order())
    if source.text.count("\n") > MAX_LINES:
        faults.add(Place(), f"a GIFT file has at most {MAX_LINES:,} lines; make several files of it")
        return Contents(faults=faults.in_order())
    for number, block in enumerate(split_blocks(source)):
        if number >= MAX_QUESTIONS:
            faults.add(
                block.place(0), f"a file holds at most {MAX_QUESTIONS:,} questions; make several of it"
            )
            break
        reading = _Reading(block, faults)
        before = len(faults)
        if was_open and (part := reading.continues()) is not None:
            was_open = part  # an empty line has cut a question: its rest is no fault of its own
            continue
        found = reading.question()
        was_open = reading.was_open
        if isinstance(found, Skip):
            skipped.append(found)
        elif found is not None:
            check_question(found, faults)
            if len(faults) == before:
                questions.append(found)
    return Contents(tuple(questions), tuple(skipped), faults.in_order())


class _Reading:
    """One block on its way to a question."""

    def __init__(self, block: Block, faults: Faults) -> None:
        self.block = block
        self.text = block.text
        self.faults = faults
        self.was_open = False

    def continues(self) -> bool | None:
        """Tell whether an open brace is open after this, too; None if this is a question of its own."""
        first = first_mark(self.text, "{}")
        if first >= 0:
            return False if self.text[first] == "}" else None
        return None if self.text.lstrip().startswith("::") else True

    def question(self) -> Question | Skip | None:
        name, start = self._title()
        if start < 0:
            return None
        braces = self._braces(start)
        if braces is None:
            return None
        opening, closing = braces
        head = self.text[start : opening if opening >= 0 else len(self.text)]
        text = marked_form(head, Form.AUTO)
        place = self.block.place(len(self.text) - len(self.text.lstrip()))
        if opening < 0:
            return Skip(name or text.text, "description", place, *_DESCRIPTION)
        field = read_field(self.block, opening + 1, closing, text.form, self.faults)
        if field.kind is None:
            return Skip(name or text.text, "essay", place, *_ESSAY)
        tail = self.text[closing + 1 :].strip()
        if tail:  # the answers stand in the place of a word
            text = marked_form(f"{head.rstrip()} {GAP} {tail}", Form.AUTO)
        return self._made(name, text, field, field.kind)

    def _made(self, name: str, text: Markup, field: Field, kind: Kind) -> Question:
        place = self.block.place(len(self.text) - len(self.text.lstrip()))
        return Question(
            kind,
            name,
            field.type,
            place,
            text,
            answers=field.answers,
            pairs=field.pairs,
            single=field.single,
            shuffle=field.shuffle,
            category=self.block.category,
            tags=self.block.tags,
            general=field.general,
        )

    def _title(self) -> tuple[str, int]:
        """Return the name and where the text begins, -1 where the name never ends."""
        start = len(self.text) - len(self.text.lstrip())
        if not self.text.startswith("::", start):
            return "", start
        for at in find_marks(self.text, ":", start + 2):
            if self.text.startswith("::", at):
                return unescaped(self.text[start + 2 : at]).strip(), at + 2
        self.faults.add(self.block.place(start), "this name isn't ended by ::")
        return "", -1

    def _braces(self, start: int) -> tuple[int, int] | None:
        """Return where the answers begin and end, -1 where there are none; None after a fault."""
        marks = list(find_marks(self.text, "{}", start))
        if not marks:
            return -1, -1
        wrong = self._wrong_brace(marks)
        if wrong is None:
            return marks[0], marks[1]
        self.faults.add(self.block.place(wrong[0]), wrong[1])
        return None

    def _wrong_brace(self, marks: list[int]) -> tuple[int, str] | None:
        signs = [self.text[at] for at in marks[:3]]
        if signs[0] == "}":
            return marks[0], "this } closes nothing; a brace of the text is written \\}"
        if len(signs) == 1:
            self.was_open = True
            what = "this { isn't closed before the question ends (an empty line ends it)"
            return marks[0], f"{what}; a brace of the text is written \\{{"
        if signs[1] == "{":
            return marks[1], "a { inside the answers is written \\{, as in \\frac\\{1\\}\\{2\\}"
        if len(signs) > 2:
            if signs[2] == "{" and "\n" in self.text[marks[1] : marks[2]]:
                what = "a second { for one question: put an empty line before the question that begins here"
                return marks[2], f"{what}; braces of the text are written \\{{ and \\}}"
            what = (
                "a second { for one question (an empty line ends it)"
                if signs[2] == "{"
                else "this } closes nothing"
            )
            return marks[2], f"{what}; braces of the text are written \\{{ and \\}}"
        return None
