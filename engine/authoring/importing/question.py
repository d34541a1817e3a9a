"""The bytes of a file that other software wrote → text with places, and which format it is."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import Diagnostic, ExchangeError
from engine.exchange.question import Place
from engine.foreign import clean_line
from engine.intake.decoding import codec_among, read_bytes
from engine.spec.text_file import source_line

__all__ = [
    "FORMATS",
    "MAX_BYTES",
    "MAX_QUESTIONS",
    "Faults",
    "Source",
    "decode_source",
    "detect_format",
    "read_source",
]

FORMATS = ("moodle", "gift")
MAX_BYTES = 32 * 2**20
"""The largest file that is read: question banks carry their pictures along."""
MAX_QUESTIONS = 5_000
MAX_FAULTS = 100

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with UTF-16's
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DECLARED = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_ORDINARY = re.compile(r"utf-8|utf-16(-[lb]e)?|ascii|iso8859-\d+|cp125\d|koi8-[ru]|mac-roman")
_ARCHIVES = (b"PK\x03\x04", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!")
_SAVE_AS = "save it as UTF-8 in an editor, and import it again"


@dataclass(frozen=True)
class Source:
    r"""A file as text; line ends are ``\n``.

    Parameters
    ----------
    file : str
        Its name, as messages show it.
    text : str
    encoding : str
        What it was decoded with.
    guessed : bool
        Whether nothing said so: not UTF-8, so taken for Windows-1252.
    """

    file: str
    text: str
    encoding: str = "utf-8"
    guessed: bool = False
    _starts: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        starts = [0, *(found.end() for found in re.finditer("\n", self.text))]
        object.__setattr__(self, "_starts", starts)

    def place(self, offset: int) -> Place:
        """Return line and column of a character."""
        line = bisect_right(self._starts, offset)
        return Place(line, offset - self._starts[line - 1] + 1)

    def fault(self, place: Place, message: str) -> Diagnostic:
        """Return what is wrong at a place, with the line itself."""
        return Diagnostic(self.file, place.line, place.column, message, source_line(self.text, place.line))


class Faults:
    """Collects what is wrong with a file, at most 100 faults."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._found: list[Diagnostic] = []

    def add(self, place: Place, message: str) -> None:
        """Note one fault."""
        if len(self._found) < MAX_FAULTS:
            self._found.append(self._source.fault(place, message))

    def __len__(self) -> int:
        return len(self._found)

    def in_order(self) -> tuple[Diagnostic, ...]:
        """Return all of them by line and column, each once."""
        unique = dict.fromkeys(self._found)
        return tuple(sorted(unique, key=lambda fault: (fault.line, fault.column)))


def read_source(path: Path) -> Source:
    """Read a file.

    Raises
    ------
    ExchangeError
        It is missing, no ordinary file, too large, an archive, or text in no known encoding.
    """
    where = clean_line(str(path), 300)
    return decode_source(read_bytes(path, MAX_BYTES, ExchangeError), where)


def decode_source(data: bytes, file: str) -> Source:
    """Return bytes as text: by byte order mark, by the XML declaration, as UTF-8, as Windows-1252.

    Raises
    ------
    ExchangeError
        They are an archive or binary, or in none of these encodings.
    """
    if data.startswith(_ARCHIVES):
        raise ExchangeError(
            "this is an archive (a backup, or a package of another format)",
            where=file,
            expected="a Moodle XML or GIFT file",
            next_step="export the question bank as Moodle XML",
        )
    text, encoding, guessed = _decoded(data, file)
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if (nul := text.find("\0")) >= 0:
        line = text.count("\n", 0, nul) + 1
        raise ExchangeError("the file holds NUL characters", where=f"{file}:{line}", expected="a text file")
    return Source(file, text, encoding, guessed)


def _decoded(data: bytes, file: str) -> tuple[str, str, bool]:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _by(encoding, data, file), encoding, False
    declared = _declared(data, file)
    if declared not in ("utf-8", "ascii"):
        return _by(declared, data, file), declared, False
    try:
        return data.decode("utf-8"), "utf-8", False
    except UnicodeDecodeError as problem:
        if _mixed(data):
            message = f"byte 0x{data[problem.start]:02X} isn't UTF-8 text, which the rest of the file is"
            raise _refused(data, problem.start, file, message) from None
    return _by("cp1252", data, file), "cp1252", True


def _declared(data: bytes, file: str) -> str:
    """Return the encoding of the XML declaration, UTF-8 if there is none."""
    found = _DECLARED.match(data.lstrip()[:400])
    if found is None:
        return "utf-8"
    named = found[1].decode("ascii")
    codec = codec_among(_ORDINARY, named)
    if codec is None:
        raise ExchangeError(
            f"the file names the encoding {clean_line(named, 40)}, which isn't read here",
            where=f"{file}:1:1",
            next_step=_SAVE_AS,
        )
    return codec


def _by(encoding: str, data: bytes, file: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as problem:
        message = f"byte 0x{data[problem.start]:02X} isn't {encoding.upper()} text"
        raise _refused(data, problem.start, file, message) from None


def _mixed(data: bytes) -> bool:
    """Tell whether other characters of a text that isn't UTF-8 are: then guessing would spoil them."""
    return any("\x7f" < c < "\udc80" or c > "\udcff" for c in data.decode("utf-8", "surrogateescape"))


def _refused(data: bytes, at: int, file: str, message: str) -> ExchangeError:
    before = data[:at].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
    error = ExchangeError.of_file([Diagnostic(file, line, column, f"{message}; {_SAVE_AS}")])
    error.next_step = _SAVE_AS
    return error


def detect_format(source: Source, wanted: str | None = None) -> str:
    """Return ``"moodle"`` or ``"gift"``: what is wanted, or else what the text looks like.

    Raises
    ------
    ExchangeError
        It is XML of another kind.
    """
    head = source.text.lstrip()[:2000]
    is_xml = head.startswith("<?xml") or re.match(r"<[A-Za-z][\w:.-]*[\s>]", head) is not None
    root = re.search(r"<([A-Za-z][\w:.-]*)", head)
    if wanted == "moodle" or (wanted is None and root is not None and root[1] == "quiz"):
        return "moodle"
    if wanted is None and is_xml and head.startswith("<?xml"):
        what = f"the XML begins with <{clean_line(root[1], 40)}>" if root else "the XML holds no element"
        raise ExchangeError(
            f"{what}, so it is no Moodle XML",
            where=source.file,
            expected="<quiz>",
            next_step="export the question bank as Moodle XML (QTI isn't read)",
        )
    return "gift"
