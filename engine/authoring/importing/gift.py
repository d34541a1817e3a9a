r"""Reads GIFT, Moodle's plain text format for questions.

Questions stand between empty lines, answers between braces: ``::Name:: 2 + 2? {=4 ~5#not quite}``. The file
is cut into blocks first, so that a broken question is one fault and doesn't take its neighbours along; every
fault has its line and column.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

from engine.authoring.importing.foreign_question import (
    MAX_QUESTIONS,
    NOTHING,
    AcceptedNumber,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    ForeseenAnswer,
    MarkedText,
    MatchingPair,
    QuestionFile,
    QuestionKind,
    SkippedQuestion,
    SourceText,
    TextForm,
    check_question,
    read_decimal,
    read_share,
)
from engine.authoring.importing.imported_wholes import NO_RUBRIC
from engine.prose.maths.parser import SYMBOLS
from engine.text.words import one_line

# \~ \= \# \{ \} \: and \\ stand for the character, \n for a line end
_PAIR = re.compile(r"\\([\\:#={}~n])")
_DELIMITER = re.compile(r"\\{1,2}([()\[\]])|\$\$")
_MACRO = re.compile(r"n[A-Za-z]+")


def find_marks(text: str, marks: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield the positions of characters of ``marks`` that no backslash takes their meaning from."""
    stop = len(text) if end is None else end
    for match in _searched(marks).finditer(text, start, stop):
        if len(match[0]) == 1:
            yield match.start()


@lru_cache(maxsize=16)
def _searched(marks: str) -> re.Pattern[str]:
    return re.compile(_PAIR.pattern + f"|[{re.escape(marks)}]")


def first_mark(text: str, marks: str, start: int = 0, end: int | None = None) -> int:
    """Return the first such position, -1 if there is none."""
    return next(find_marks(text, marks, start, end), -1)


def unescaped(text: str) -> str:
    r"""Return a text with its escapes resolved.

    Inside a formula ``\nu``, ``\neq`` and other macros of LaTeX that begin with n stay what they are.
    """
    out: list[str] = []
    index = 0
    is_formula = False
    while index < len(text):
        if (edge := _DELIMITER.match(text, index)) is not None:
            is_formula = edge[1] in ("(", "[") if edge[1] else not is_formula
            out.append(f"\\{edge[1]}" if edge[1] else "$$")
            index = edge.end()
            continue
        pair = _PAIR.match(text, index)
        if pair is None:
            out.append(text[index])
            index += 1
        elif pair[1] == "n" and is_formula and _is_macro(text, index + 1):
            out.append("\\n")
            index += 2
        else:
            out.append("\n" if pair[1] == "n" else pair[1])
            index += 2
    return "".join(out)


def _is_macro(text: str, start: int) -> bool:
    match = _MACRO.match(text, start)
    return match is not None and match[0] in SYMBOLS


_CATEGORY = re.compile(r"\s*\$CATEGORY:(.*)")
_MOST_TAGS = 100  # five times what an item may have
_TAG = re.compile(r"\[tag:([^\]\n]{1,100})\]")


@dataclass
class GiftBlock:
    """The lines of one question, without its comments.

    Parameters
    ----------
    source : SourceText
    category : str
    tags : tuple of str
        From ``[tag:…]`` in its comments.
    """

    source: SourceText
    category: str = ""
    tags: tuple[str, ...] = ()
    _lines: list[str] = field(default_factory=list)
    _length: int = 0
    _indices: list[int] = field(default_factory=list)
    _offsets: list[int] = field(default_factory=list)

    def add(self, line: str, offset: int) -> None:
        """Add a line that begins at an offset of the file."""
        self._indices.append(self._length)
        self._offsets.append(offset)
        self._lines.append(line + "\n")
        self._length += len(line) + 1

    @cached_property
    def text(self) -> str:
        """All lines; read only after the last one has been added."""
        return "".join(self._lines)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def place(self, index: int) -> FilePlace:
        """Return where a character of ``text`` stands in the file."""
        line = max(0, bisect_right(self._indices, index) - 1)
        return self.source.place(self._offsets[line] + index - self._indices[line])


def split_blocks(source: SourceText) -> Iterator[GiftBlock]:
    """Yield the questions of a file in order, which are separated by empty lines."""
    category = ""
    block = GiftBlock(source)
    offset = 0
    for line in source.text.split("\n"):
        heading = _CATEGORY.fullmatch(line)
        if not line.strip() or heading is not None:
            if block:
                yield block
            if heading is not None:
                category = unescaped(heading[1]).strip()
            # tags belong to the question whose lines touch theirs
            block = GiftBlock(source, category)
        elif line.lstrip().startswith("//"):
            tags = tuple(_TAG.findall(line)) if len(block.tags) < _MOST_TAGS else ()
            block.tags = (*block.tags, *tags)[:_MOST_TAGS] if tags else block.tags
        else:
            block.add(line, offset)
        offset += len(line) + 1
    if block:
        yield block


_FORMS = {
    "html": TextForm.HTML,
    "moodle": TextForm.AUTO,
    "plain": TextForm.PLAIN,
    "markdown": TextForm.MARKDOWN,
}
_FORM = re.compile(r"\s*\[(html|moodle|plain|markdown)\]", re.IGNORECASE)
_WEIGHT = re.compile(r"\s*%([^%\n]{0,40})%")
_TRUTH = {"T": True, "TRUE": True, "F": False, "FALSE": False}


@dataclass(frozen=True)
class GiftField:
    """The answers of a question; the kind is None for an essay."""

    kind: QuestionKind | None
    type: str
    answers: tuple[ForeseenAnswer, ...] = ()
    pairs: tuple[MatchingPair, ...] = ()
    single: bool = True
    shuffle: bool = True
    general: MarkedText = NOTHING


@dataclass(frozen=True)
class _Piece:
    """One answer as it is written: its mark (``=``, ``~`` or nothing) and the text behind it."""

    mark: str
    text: str
    share: Fraction | None
    place: FilePlace


def marked_form(text: str, otherwise: TextForm) -> MarkedText:
    """Return a text, escapes resolved, in the form that it states at its beginning, such as ``[html]``."""
    match = _FORM.match(text)
    form = _FORMS[match[1].lower()] if match is not None else otherwise
    return MarkedText(unescaped(text[match.end() if match is not None else 0 :]).strip(), form)


def read_field(block: GiftBlock, start: int, end: int, form: TextForm, faults: FileFaults) -> GiftField:
    """Return the answers in ``block.text[start:end]``, the inside of the braces."""
    return _AnswerReading(block, form, faults).field(start, end)


class _AnswerReading:
    def __init__(self, block: GiftBlock, form: TextForm, faults: FileFaults) -> None:
        self.block = block
        self.text = block.text
        self.form = form
        self.faults = faults

    def field(self, start: int, end: int) -> GiftField:
        general = NOTHING
        cut = self._general(start, end)
        if cut >= 0:
            general, end = marked_form(self.text[cut + 4 : end], self.form), cut
        inside = self.text[start:end].strip()
        start += len(self.text[start:end]) - len(self.text[start:end].lstrip())
        if not inside:
            return GiftField(None, "essay", general=general)
        if inside.startswith("#"):
            return GiftField(QuestionKind.NUMBER, "numerical", self._numbers(start + 1, end), general=general)
        if first_mark(self.text, "~", start, end) >= 0:
            return self._choice(start, end, general)
        if first_mark(self.text, "=", start, end) >= 0 and "->" in inside:
            return GiftField(
                QuestionKind.MATCHING, "matching", pairs=self._pairs(start, end), general=general
            )
        if (truth := self._truth(start, end)) is not None:
            return GiftField(QuestionKind.CHOICE, "truefalse", truth, shuffle=False, general=general)
        answers = tuple(
            self._answer(piece, Fraction(1), TextForm.PLAIN) for piece in self._pieces(start, end)
        )
        return GiftField(QuestionKind.TOKEN, "shortanswer", answers, general=general)

    def _general(self, start: int, end: int) -> int:
        """Return where ``####`` stands, which begins the feedback for everybody."""
        for index in find_marks(self.text, "#", start, end):
            if self.text.startswith("####", index):
                return index
        return -1

    def _pieces(self, start: int, end: int) -> Iterator[_Piece]:
        marks = list(find_marks(self.text, "=~", start, end))
        if self.text[start : marks[0] if marks else end].strip():
            marks.insert(0, start)
        for begin, following in zip(marks, [*marks[1:], end], strict=False):
            mark = self.text[begin] if self.text[begin] in "=~" else ""
            yield self._piece(mark, begin, begin + len(mark), following)

    def _piece(self, mark: str, begin: int, start: int, end: int) -> _Piece:
        weight = _WEIGHT.match(self.text, start, end)
        share = None
        if weight is not None:
            share = read_share(weight[1])
            if share is None:
                actual = f"not '{one_line(weight[1], 30)}'"
                message = f"a weight is a percentage from -100 to 100, such as %50%, {actual}"
                self.faults.add(self.block.place(weight.start(1)), message)
            start = weight.end()
        return _Piece(mark, self.text[start:end], share, self.block.place(begin))

    def _answer(self, piece: _Piece, usual: Fraction, form: TextForm) -> ForeseenAnswer:
        cut = first_mark(piece.text, "#")
        text, feedback = (piece.text, "") if cut < 0 else (piece.text[:cut], piece.text[cut + 1 :])
        share = usual if piece.share is None else piece.share
        return ForeseenAnswer(marked_form(text, form), share, marked_form(feedback, self.form), piece.place)

    def _choice(self, start: int, end: int, general: MarkedText) -> GiftField:
        pieces = list(self._pieces(start, end))
        answers = []
        for piece in pieces:
            if not piece.mark:
                self.faults.add(piece.place, "there is text before the first = or ~")
                continue
            answers.append(self._answer(piece, Fraction(int(piece.mark == "=")), self.form))
        # as in Moodle: several options can be picked where none is marked as the right one
        single = any(piece.mark == "=" for piece in pieces)
        return GiftField(QuestionKind.CHOICE, "multichoice", tuple(answers), single=single, general=general)

    def _pairs(self, start: int, end: int) -> tuple[MatchingPair, ...]:
        pairs = []
        for piece in self._pieces(start, end):
            prompt, arrow, right = piece.text.partition("->")
            if not arrow:
                self.faults.add(piece.place, "this pair has no -> between its two sides")
                continue
            target = MarkedText(unescaped(right).strip(), TextForm.PLAIN)
            pairs.append(MatchingPair(marked_form(prompt, self.form), target, piece.place))
        return tuple(pairs)

    def _truth(self, start: int, end: int) -> tuple[ForeseenAnswer, ...] | None:
        edges = [start, *(mark + 1 for mark in find_marks(self.text, "#", start, end)), end + 1]
        texts = [self.text[a : b - 1].strip() for a, b in pairwise(edges)]
        truth = _TRUTH.get(texts[0].upper())
        if truth is None:
            return None
        wrong, right = (marked_form(text, self.form) for text in [*texts[1:3], "", ""][:2])
        place = self.block.place(start)
        return tuple(
            ForeseenAnswer(
                MarkedText(str(value), TextForm.PLAIN),
                Fraction(int(value is truth)),
                right if value is truth else wrong,
                place,
            )
            for value in (True, False)
        )

    def _numbers(self, start: int, end: int) -> tuple[ForeseenAnswer, ...]:
        answers = [self._numeric(piece) for piece in self._pieces(start, end)]
        if not answers:
            self.faults.add(self.block.place(start), "there is no number after the #")
        return tuple(answers)

    def _numeric(self, piece: _Piece) -> ForeseenAnswer:
        answer = self._answer(piece, Fraction(int(piece.mark != "~")), TextForm.PLAIN)
        word = answer.text.text.strip()
        if word == "*" or (piece.mark == "~" and not word):  # any other number
            return replace(answer, text=MarkedText("*", TextForm.PLAIN))
        number = _number(word)
        if number is None:
            forms = "such as 3.14, 3.14:0.01 (tolerance) or 3.1..3.2"
            self.faults.add(piece.place, f"'{one_line(word, 30)}' isn't a number in GIFT, {forms}")
        return replace(answer, number=number)


def _number(word: str) -> AcceptedNumber | None:
    """Return ``value``, ``value:tolerance`` or ``low..high``, None if it is none of them."""
    if ".." in word:
        low, high = (read_decimal(part) for part in word.split("..", 1))
        if low is None or high is None or high < low:
            return None
        return AcceptedNumber((low + high) / 2, (high - low) / 2)
    text, _, around = word.partition(":")
    value, tolerance = read_decimal(text), read_decimal(around) if around.strip() else Decimal(0)
    if value is None or tolerance is None or tolerance < 0:
        return None
    return AcceptedNumber(value, tolerance)


GAP = "_____"
"""Stands in a text where a word is missing."""
# GIFT is typed by people: a file beyond these is something else, and reading it would take minutes
MAX_CHARACTERS = 4 * 2**20
MAX_LINES = 100_000

_DESCRIPTION = (
    "it only shows a text and asks nothing",
    "put the text into the stem of the items that need it",
)


def read_gift(source: SourceText) -> QuestionFile:
    """Return the questions of a file, what has no counterpart here, and every fault with its place."""
    faults = FileFaults(source)
    questions: list[ForeignQuestion] = []
    skipped: list[SkippedQuestion] = []
    was_open = False
    if len(source.text) > MAX_CHARACTERS:
        faults.add(
            FilePlace(), f"a GIFT file has at most {MAX_CHARACTERS // 2**20} MiB; make several files of it"
        )
        return QuestionFile(faults=faults.in_order())
    if source.text.count("\n") > MAX_LINES:
        faults.add(FilePlace(), f"a GIFT file has at most {MAX_LINES:,} lines; make several files of it")
        return QuestionFile(faults=faults.in_order())
    for number, block in enumerate(split_blocks(source)):
        if number >= MAX_QUESTIONS:
            faults.add(
                block.place(0), f"a file holds at most {MAX_QUESTIONS:,} questions; make several of it"
            )
            break
        reading = _Reading(block, faults)
        before = len(faults)
        if was_open and (part := reading.continues()) is not None:
            was_open = part  # an empty line has cut a question: its rest isn't a fault of its own
            continue
        question = reading.question()
        was_open = reading.was_open
        if isinstance(question, SkippedQuestion):
            skipped.append(question)
        elif question is not None:
            check_question(question, faults)
            if len(faults) == before:
                questions.append(question)
    return QuestionFile(tuple(questions), tuple(skipped), faults.in_order())


class _Reading:
    def __init__(self, block: GiftBlock, faults: FileFaults) -> None:
        self.block = block
        self.text = block.text
        self.faults = faults
        self.was_open = False

    def continues(self) -> bool | None:
        """Return whether an open brace is open after this, too; None if this is a question of its own."""
        first = first_mark(self.text, "{}")
        if first >= 0:
            return False if self.text[first] == "}" else None
        return None if self.text.lstrip().startswith("::") else True

    def question(self) -> ForeignQuestion | SkippedQuestion | None:
        name, start = self._title()
        if start < 0:
            return None
        braces = self._braces(start)
        if braces is None:
            return None
        opening, closing = braces
        head = self.text[start : opening if opening >= 0 else len(self.text)]
        text = marked_form(head, TextForm.AUTO)
        place = self.block.place(len(self.text) - len(self.text.lstrip()))
        if opening < 0:
            return SkippedQuestion(name or text.text, "description", place, *_DESCRIPTION)
        field = read_field(self.block, opening + 1, closing, text.form, self.faults)
        if field.kind is None:
            return SkippedQuestion(name or text.text, "essay", place, *NO_RUBRIC)
        tail = self.text[closing + 1 :].strip()
        if tail:  # the answers stand in the place of a word
            text = marked_form(f"{head.rstrip()} {GAP} {tail}", TextForm.AUTO)
        return ForeignQuestion(
            field.kind,
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
        for colon in find_marks(self.text, ":", start + 2):
            if self.text.startswith("::", colon):
                return unescaped(self.text[start + 2 : colon]).strip(), colon + 2
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
        signs = [self.text[mark] for mark in marks[:3]]
        if signs[0] == "}":
            return marks[0], "this } closes nothing; a brace of the text is written \\}"
        if len(signs) == 1:
            self.was_open = True
            reason = "this { isn't closed before the question ends (an empty line ends it)"
            return marks[0], f"{reason}; a brace of the text is written \\{{"
        if signs[1] == "{":
            return marks[1], "a { inside the answers is written \\{, as in \\frac\\{1\\}\\{2\\}"
        if len(signs) > 2:
            if signs[2] == "{" and "\n" in self.text[marks[1] : marks[2]]:
                reason = "a second { for one question: put an empty line before the question that begins here"
                return marks[2], f"{reason}; braces of the text are written \\{{ and \\}}"
            reason = (
                "a second { for one question (an empty line ends it)"
                if signs[2] == "{"
                else "this } closes nothing"
            )
            return marks[2], f"{reason}; braces of the text are written \\{{ and \\}}"
        return None
