"""A question as a file of another system holds it, before anything is made of it here.

Readers of all formats give these values, so that what becomes of a question doesn't depend on where it came
from. The module also holds what every format needs: numbers as other systems write them, the decoding of a
file's bytes, and the check that a question asks something that can be answered.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Self

from engine.errors import Diagnostic, ExchangeError
from engine.text.files import ARCHIVE_STARTS, codec_among, fault_after, read_bytes, source_line
from engine.text.words import clean_line
from engine.text.yaml import in_order


class TextForm(StrEnum):
    """How the markup of a text is to be read."""

    HTML = "html"
    MARKDOWN = "markdown"
    PLAIN = "plain"
    AUTO = "auto"
    """HTML whose line ends count: the form of a text that states none."""


class QuestionKind(StrEnum):
    """What a question asks for."""

    CHOICE = "choice"
    TOKEN = "token"
    NUMBER = "number"
    MATCHING = "matching"
    ORDERING = "ordering"
    ESSAY = "essay"
    GAPS = "gaps"
    """Several fields in one text."""


@dataclass(frozen=True, slots=True)
class FilePlace:
    """Where something begins; line and column from 1, the file within a package empty for a single file."""

    line: int = 1
    column: int = 1
    file: str = ""

    def __str__(self) -> str:
        line = f"line {self.line}"
        return f"{self.file}, {line}" if self.file else line


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text in the form of its file."""

    text: str
    form: TextForm = TextForm.AUTO

    def __bool__(self) -> bool:
        return bool(self.text.strip())


NOTHING = MarkedText("")


@dataclass(frozen=True, slots=True)
class AcceptedNumber:
    """A right (or expected wrong) number, accepted from ``value - tolerance`` to ``value + tolerance``."""

    value: Decimal
    tolerance: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class ForeseenAnswer:
    """An option of a choice, or a text or number that the author expects.

    Parameters
    ----------
    text : MarkedText
        Of a number its digits as in the file; ``*`` stands for any other answer.
    fraction : Fraction
        Share of the points: 1 is right, below 0 costs points.
    feedback : MarkedText
    place : FilePlace
    number : AcceptedNumber, optional
        Its value, in a numeric question.
    """

    text: MarkedText
    fraction: Fraction
    feedback: MarkedText = NOTHING
    place: FilePlace = FilePlace()
    number: AcceptedNumber | None = None


@dataclass(frozen=True, slots=True)
class MatchingPair:
    """A left side and the text that belongs to it; a text without a left side is a distractor.

    Feedback is for a wrong partner.
    """

    prompt: MarkedText
    target: MarkedText
    place: FilePlace = FilePlace()
    feedback: MarkedText = NOTHING


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Something that a question loses, or that somebody should look at."""

    message: str
    place: FilePlace | None = None


@dataclass(frozen=True, slots=True)
class ForeignQuestion:
    """One question.

    Parameters
    ----------
    kind : QuestionKind
    name : str
        Its author's name for it; untrusted text, may be empty.
    type : str
        What its own system calls the kind of question.
    place : FilePlace
    text : MarkedText
    answers : tuple of ForeseenAnswer
    pairs : tuple of MatchingPair
    single : bool
        Whether exactly one option is picked.
    case_sensitive, shuffle : bool
    points : Decimal
    unit : str
    category : str
        The path of its folders, joined by ``/``.
    tags : tuple of str
    general, right, wrong : MarkedText
        Feedback for everybody, for a right answer, and for a wrong one.
    hints : tuple of MarkedText
    policy : str
        How an order, pairs, several picks or the entries of a vector are marked: one of our own rules for
        these; empty where only percentages say it.
    whole : bool
        Whether only whole numbers can be typed.
    near_share : Fraction
        What a number that is off by rounding, or words in another order, earn.
    grader : MarkedText
        What an essay's markers read.
    words : tuple of (int or None, int or None)
        The least and the largest number of an essay's words, where they are asked for.
    gaps : tuple of ForeignQuestion
        The fields of a text with several; `points` of a gap is its weight.
    gap_mark : str
        Stands in the text where a gap is, with the gap's number behind it and once more behind that.
    notes : tuple of ImportNote
        What was lost when it was read.
    """

    kind: QuestionKind
    name: str
    type: str
    place: FilePlace
    text: MarkedText
    answers: tuple[ForeseenAnswer, ...] = ()
    pairs: tuple[MatchingPair, ...] = ()
    single: bool = True
    case_sensitive: bool = False
    shuffle: bool = True
    points: Decimal = Decimal(1)
    unit: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    general: MarkedText = NOTHING
    right: MarkedText = NOTHING
    wrong: MarkedText = NOTHING
    hints: tuple[MarkedText, ...] = ()
    policy: str = ""
    whole: bool = False
    near_share: Fraction = Fraction(0)
    grader: MarkedText = NOTHING
    words: tuple[int | None, int | None] = (None, None)
    gaps: tuple[ForeignQuestion, ...] = ()
    gap_mark: str = ""
    notes: tuple[ImportNote, ...] = ()

    def noting(self, *notes: ImportNote) -> Self:
        """Return the question with further notes."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True, slots=True)
class SkippedQuestion:
    """A question that has no counterpart here: why, and what its author can do."""

    name: str
    type: str
    place: FilePlace
    reason: str
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """What a file holds.

    Parameters
    ----------
    questions : tuple of ForeignQuestion
    skipped : tuple of SkippedQuestion
    faults : tuple of Diagnostic
        In the order of the file's lines; a question with a fault isn't in ``questions``.
    """

    questions: tuple[ForeignQuestion, ...] = ()
    skipped: tuple[SkippedQuestion, ...] = ()
    faults: tuple[Diagnostic, ...] = field(default=())


_DECIMAL = re.compile(r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]{1,3})?")
_MAX_DIGITS = 40  # more than any key has; Decimal's own limit would let a file fill the memory
# Moodle offers shares from 1/20 to 1/1 and writes them with five to seven digits
_LARGEST_DENOMINATOR = 20
_CLOSE = Fraction(1, 10**6)


def read_decimal(text: str) -> Decimal | None:
    """Return a number such as ``0.5``, ``-2`` or ``1e-3``, None if the text is none."""
    plain = text.strip().replace("\u2212", "-")
    return Decimal(plain) if len(plain) <= _MAX_DIGITS and _DECIMAL.fullmatch(plain) else None


def read_share(text: str) -> Fraction | None:
    """Return a percentage as a share, None if it is none or beyond ±100 %.

    ``33.33333`` is a third: the systems that write it have rounded it.
    """
    number = read_decimal(text)
    if number is None or abs(number) > 100:  # Moodle's own bounds
        return None
    exact = Fraction(number) / 100
    simple = exact.limit_denominator(_LARGEST_DENOMINATOR)
    return simple if abs(exact - simple) < _CLOSE else exact


MAX_BYTES = 32 * 2**20
"""The largest file that is read: question banks carry their pictures along."""
MAX_QUESTIONS = 5_000
MAX_FAULTS = 100  # a file of another kind has thousands, and nobody reads past the first screen

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16's, with which it begins
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_ORDINARY = re.compile(r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d+|cp125\d|koi8-[ru]|mac-roman")
_SAVE_AS = "save it as UTF-8 in an editor, and import it again"


@dataclass(frozen=True)
class SourceText:
    r"""A file as text; line ends are ``\n``.

    Parameters
    ----------
    file : str
        Its name, as messages show it.
    text : str
    encoding : str
        What it was decoded with.
    guessed : bool
        Whether the encoding is a guess: text that isn't UTF-8 is taken for Windows-1252.
    """

    file: str
    text: str
    encoding: str = "utf-8"
    guessed: bool = False
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        object.__setattr__(self, "_starts", starts)

    def place(self, offset: int) -> FilePlace:
        """Return line and column of a character."""
        line = bisect_right(self._starts, offset)
        return FilePlace(line, offset - self._starts[line - 1] + 1)

    def fault(self, place: FilePlace, message: str) -> Diagnostic:
        """Return a fault at a place, with the line itself."""
        return Diagnostic(self.file, place.line, place.column, message, source_line(self.text, place.line))


class FileFaults:
    """Collects what is wrong with a file, at most 100 faults."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._diagnostics: list[Diagnostic] = []

    def add(self, place: FilePlace, message: str) -> None:
        """Note one fault."""
        if len(self._diagnostics) < MAX_FAULTS:
            self._diagnostics.append(self._source.fault(place, message))

    def __len__(self) -> int:
        return len(self._diagnostics)

    def in_order(self) -> tuple[Diagnostic, ...]:
        """Return all of them by line and column, each once."""
        return tuple(in_order(self._diagnostics))


def read_source(path: Path) -> SourceText:
    """Read a file.

    Raises
    ------
    ExchangeError
        It is missing, no ordinary file, too large, an archive, or text in no known encoding.
    """
    where = clean_line(str(path), 300)
    return decode_source(read_bytes(path, MAX_BYTES, ExchangeError), where)


def decode_source(data: bytes, file: str) -> SourceText:
    """Return bytes as text: by byte order mark, by the XML declaration, as UTF-8, as Windows-1252.

    Raises
    ------
    ExchangeError
        They are an archive or binary, or in none of these encodings.
    """
    # Moodle's own backups and other packages: people take them for the exported file
    if data.startswith(tuple(ARCHIVE_STARTS)):
        message = "this is an archive (a backup, or a package of another format)"
        step = "export the question bank as Moodle XML, or the questions as a QTI package"
        raise ExchangeError(message, where=file, expected=f"{_READ}, or a package", next_step=step)
    text, encoding, guessed = _decoded(data, file)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise ExchangeError("the file holds NUL characters", where=f"{file}:{line}", expected="a text file")
    return SourceText(file, text, encoding, guessed)


def _decoded(data: bytes, file: str) -> tuple[str, str, bool]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _by(encoding, data, file), encoding, False
    # a declaration of UTF-8 is often wrong: such a file is tried, and may be Windows-1252 after all
    declared = _declared(data, file)
    if declared not in ("utf-8", "ascii"):
        return _by(declared, data, file), declared, False
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError as problem:
        if _mixed(data):
            message = f"byte 0x{data[problem.start]:02X} isn't UTF-8 text, which the rest of the file is"
            raise _undecodable(data, problem.start, file, message) from None
    return _by("cp1252", data, file), "cp1252", True


def _declared(data: bytes, file: str) -> str:
    declaration = _DECLARED.match(data.lstrip()[:400])
    if declaration is None:
        return "utf-8"
    name = declaration[1].decode("ascii")
    codec = codec_among(_ORDINARY, name)
    if codec is None:
        message = f"the file names the encoding {clean_line(name, 40)}, which isn't read here"
        raise ExchangeError(message, where=f"{file}:1:1", next_step=_SAVE_AS)
    return codec


def _by(encoding: str, data: bytes, file: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        message = f"byte 0x{data[problem.start]:02X} isn't {encoding.upper()} text"
        raise _undecodable(data, problem.start, file, message) from None


def _mixed(data: bytes) -> bool:
    """Return whether some characters of a text are UTF-8 though others aren't: a guess would spoil them."""
    return any("\x7f" < c < "\udc80" or c > "\udcff" for c in data.decode("utf-8", "surrogateescape"))


def _undecodable(data: bytes, offset: int, file: str, message: str) -> ExchangeError:
    before = data[:offset].decode("utf-8", "replace")
    return fault_after(before, message, file, ExchangeError, next_step=_SAVE_AS)


_READ = "a file of Moodle XML, GIFT, QTI or OLX"
# what the outermost element says of a file
_FORMATS = {
    "quiz": "moodle",
    "qti-assessment-item": "qti3",
    "assessmentItem": "qti21",
    "questestinterop": "canvas",
    "problem": "olx",
    # parts of a course may hold their problems themselves
    **dict.fromkeys(
        ("course", "chapter", "sequential", "vertical", "itembank", "library", "library_content"), "olx"
    ),
}
_PARTS = {
    **dict.fromkeys(
        ("assessmentTest", "qti-assessment-test"),
        ("a test only names its items", "import the package that holds them"),
    ),
    "manifest": ("a manifest only names the files of its package", "import the whole package"),
}


def detect_format(source: SourceText, stated: str | None = None) -> str:
    """Return the format that is wanted, or else what the text looks like, such as ``"moodle"``.

    Raises
    ------
    ExchangeError
        It is XML of another kind.
    """
    if stated is not None:
        return stated
    head = source.text.lstrip()[:2000]
    is_declared = head.startswith("<?xml")
    # an element begins the file, whatever stands in comments before it
    root = re.search(r"<([A-Za-z][\w:.-]*)(?=[\s/>])", _without_comments(head))
    is_xml = is_declared or (root is not None and head.startswith(("<!--", root[0])))
    name = root[1].rpartition(":")[2] if root is not None and is_xml else ""
    if name in _FORMATS:
        return _FORMATS[name]
    if name in _PARTS:
        message, step = _PARTS[name]
        raise ExchangeError(message, where=source.file, expected=_READ, next_step=step)
    if is_declared:
        reason = f"the XML begins with <{clean_line(name, 40)}>" if name else "the XML holds no element"
        message = f"{reason}, so it is neither Moodle XML nor QTI nor OLX"
        step = "export the question bank as Moodle XML or as QTI"
        raise ExchangeError(message, where=source.file, expected="<quiz>", next_step=step)
    return "gift"  # any text may be GIFT: its reader says what is wrong with it


def _without_comments(text: str) -> str:
    """Return the beginning of a file without its comments: examples may stand in them."""
    pieces: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        pieces.append(text[end:start])
        close = text.find("-->", start)
        end = close + len("-->") if close >= 0 else len(text)
    return "".join([*pieces, text[end:]])


def check_question(question: ForeignQuestion, faults: FileFaults) -> None:
    """Add what keeps a question from being asked or answered at all to the faults."""
    if not question.text.text.strip():
        faults.add(question.place, "this question asks nothing: its text is empty")
    for field_of_text in question.gaps if question.kind is QuestionKind.GAPS else (question,):
        if field_of_text.kind is QuestionKind.MATCHING:
            _check_pairs(field_of_text, faults)
        elif field_of_text.kind is not QuestionKind.ESSAY:
            _check_answers(field_of_text, faults)


def _check_answers(question: ForeignQuestion, faults: FileFaults) -> None:
    if not question.answers:
        faults.add(question.place, "this question has no answers")
        return
    for answer in question.answers:
        if not answer.text.text.strip():
            faults.add(answer.place, "this answer is empty")
    if question.kind is QuestionKind.ORDERING:
        return
    if not (right_options(question) if question.kind is QuestionKind.CHOICE else full_answers(question)):
        reason = "no option is right" if question.kind is QuestionKind.CHOICE else "no answer is worth 100 %"
        faults.add(question.place, f"{reason}, so nobody could answer this question")


def full_answers(question: ForeignQuestion) -> tuple[ForeseenAnswer, ...]:
    """Return the answers that earn all points; ``*`` isn't one."""
    return tuple(a for a in question.answers if a.fraction == 1 and a.text.text.strip() != "*")


def right_options(question: ForeignQuestion) -> tuple[ForeseenAnswer, ...]:
    """Return the right options: those worth 100 %, or all that earn something where several are picked."""
    if question.single:
        return tuple(answer for answer in question.answers if answer.fraction == 1)
    return tuple(answer for answer in question.answers if answer.fraction > 0)


def _check_pairs(question: ForeignQuestion, faults: FileFaults) -> None:
    if sum(bool(pair.prompt) for pair in question.pairs) < 2:
        faults.add(question.place, "a matching question needs two pairs at least")
    for pair in question.pairs:
        if not pair.target:
            faults.add(pair.place, "this pair has no right side")
