"""Every error that Softmark raises on purpose.

::

    SoftmarkError                 what, where, expected, got, next step; an exit code
    ├── InputError          (2)   something that a person wrote or typed can't be used
    │   ├── UsageError            options or arguments that don't fit together
    │   ├── UnknownItemError      no item of that id in the bank
    │   ├── SpecError             one problem file, all its faults at once
    │   ├── ResponseFormatError   an answer that can't be read; costs no attempt
    │   ├── SubmissionError       a code file that can't be read
    │   ├── IntakeError           a folder or archive that can't be taken in
    │   ├── QuizError             a blueprint or a filled-in quiz file
    │   ├── CourseError           course.yaml, roster or secret
    │   ├── ExchangeError         a file of another system's questions
    │   ├── PaperError            an exam that can't be printed, or the record of one
    │   └── LtiError              what a learning system sent, or how it is registered
    │       └── PlatformAwayError     it can't be reached, or says that it can't answer now
    └── EngineError         (3)   the machine or Softmark itself; never costs a mark
        ├── SandboxError          a layer that the tier promises is missing or failed
        │   └── NoDeviceError (2)     the device that was asked for isn't in this machine
        ├── RunnerLostError       the process that ran student code was lost for a cause not its own
        ├── ProgramSetAsideError  a program over which machine after machine died: a person must look
        ├── StoreError            database locked, full disk, read-only
        │   ├── UnstorableError       one value that the store refuses; the store itself is well
        │   └── StoreAwayError        its server can't be reached now, or isn't ready for this account yet
        └── DrawError             no variant within the bounded tries, or an expression that fails
            └── ExpressionError       an expression that can't be read or evaluated
                └── UndefinedValueError   a value that isn't defined for these numbers (division by zero)
"""

from __future__ import annotations

import re
import traceback
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# What a person can do about a fault of ours that concerns one file.
INTERNAL_FAULT_STEP = (
    "it costs the student nothing: report it with this file, and grade the file by hand meanwhile"
)


class SoftmarkError(Exception):
    """Base of every deliberate error.

    Parameters
    ----------
    what : str
        One sentence: what is wrong.
    where : str, optional
        A place such as ``file:line:column``.
    expected, got : str, optional
        What would have been right, and what was there instead.
    next_step : str, optional
        What the person can do now.

    Notes
    -----
    All texts are plain: whoever shows them must escape them for its medium.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.next_step = next_step

    def lines(self) -> list[str]:
        """Return the message as plain lines, the place first."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return [head, *self._help_lines()]

    def in_one_line(self) -> str:
        """Return the message as one line, for logs, stored reasons and tables."""
        return "; ".join(line.strip() for line in self.lines())

    def _help_lines(self) -> list[str]:
        lines = []
        if self.expected is not None:
            lines.append(f"  expected: {self.expected}")
        if self.got is not None:
            lines.append(f"  got: {self.got}")
        if self.next_step is not None:
            lines.append(f"  next: {self.next_step}")
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())


class InputError(SoftmarkError):
    """Something that a person wrote or typed can't be used.

    ``diagnostics`` holds every fault where the person wrote a file and we read all of it.
    """

    exit_code = 2
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def of_file(cls, diagnostics: Sequence[Diagnostic]) -> Self:
        """Return the error that shows all these faults (at least one) of a file."""
        first = diagnostics[0]
        error = cls(first.message, where=f"{first.file}:{first.line}:{first.column}")
        error.diagnostics = tuple(diagnostics)
        return error

    def lines(self) -> list[str]:
        """Return the lines of every fault, or else the message as plain lines."""
        if not self.diagnostics:
            return super().lines()
        return [line for diagnostic in self.diagnostics for line in diagnostic.lines()] + self._help_lines()


class UsageError(InputError):
    """Options or arguments that don't fit together."""


class UnknownItemError(InputError):
    """No item of that id in the bank."""


# As SQLAlchemy finds it in an address, and as PostgreSQL's own libraries take it.
_PASSWORD_REACH = 4000
_PASSWORD = re.compile(r"(?<=:/)/?[^\s:/@]{0,100}:[^\s@]{1,100}(?=@)|(?<=password=)[^\s&'\"]+")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One fault in a text file.

    Parameters
    ----------
    file : str
        Path as the person gave it.
    line, column : int
        Both from 1.
    message : str
        What is wrong, with what was expected.
    source_line : str
        The line itself, for the caret display.
    """

    file: str
    line: int
    column: int
    message: str
    source_line: str = ""

    def lines(self) -> list[str]:
        """Return ``file:line:column: message``, the source line and a caret under the character.

        Of a long line only the stretch around the caret is shown, and no password of an address.
        """
        lines = [f"{self.file}:{self.line}:{self.column}: {self.message}"]
        if self.source_line.strip():
            # Passwords are looked for near the caret only: a foreign file may be one line of megabytes.
            text, caret = _stretch(self.source_line, self.column - 1, _PASSWORD_REACH)
            text, caret = _stretch(_without_passwords(text), caret)
            # A tab before the caret stays a tab, so that both lines are indented alike whatever its width.
            pad = "".join("\t" if c == "\t" else " " * _cells(c) for c in text[:caret])
            lines += [f"    {text}".rstrip(), f"    {pad}^"]
        return lines


def _without_passwords(line: str) -> str:
    # A star for each character: the caret stays where it is.
    return _PASSWORD.sub(lambda match: "*" * len(match[0]), line)


def _stretch(line: str, index: int, width: int = 110) -> tuple[str, int]:
    """Return at most `width` characters of a line around the one at `index`, and its index in them."""
    if len(line) <= width:
        return line, index
    start = max(0, min(index - width // 2, len(line) - width))
    head, tail = ("…" if start else ""), ("…" if start + width < len(line) else "")
    return head + line[start : start + width] + tail, index - start + len(head)


def _cells(character: str) -> int:
    # Accents that sit on the letter before them, and marks without width.
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


class SpecError(InputError):
    """One problem file with all its faults, in the order of their lines."""


class ResponseFormatError(InputError):
    """An answer that can't be read; it costs no attempt."""


class SubmissionError(InputError):
    """A code file that can't be read."""


class IntakeError(InputError):
    """A folder or archive that can't be taken in."""


class QuizError(InputError):
    """A blueprint or a filled-in quiz file that can't be used."""


class CourseError(InputError):
    """A course folder, roster or secret that can't be used."""


class ExchangeError(InputError):
    """A file of another system's questions that can't be read."""


class PaperError(InputError):
    """An exam that can't be printed, or the record of a print that can't be read."""


class LtiError(InputError):
    """Something that a learning system sent, or its registration, can't be used."""


class PlatformAwayError(LtiError):
    """A learning system can't be reached, or says that it can't answer now: trying again later may help.

    ``retry_after`` is when it wants to be asked again, in seconds, where it said so.
    """

    retry_after: float | None = None


class EngineError(SoftmarkError):
    """The machine or Softmark itself is at fault; it never costs a mark."""


class SandboxError(EngineError):
    """A layer that the tier promises is missing or failed; no student code ran."""


class NoDeviceError(SandboxError):
    """The device that was asked for isn't in this machine; no student code ran, nothing was graded."""

    exit_code = 2


class RunnerLostError(EngineError):
    """The process that ran student code was lost for a cause that isn't the code's own."""


class ProgramSetAsideError(EngineError):
    """A program over which machine after machine died: a person must look before it is tried again."""


class StoreError(EngineError):
    """The store can't be read or written: locked, full disk, read-only, damaged."""


class UnstorableError(StoreError):
    """One value that the store refuses; the store itself is well, so that other work goes on."""


class StoreAwayError(StoreError):
    """The server can't be reached now, or isn't ready for this account yet: trying again later may help."""


class DrawError(EngineError):
    """No variant within the bounded tries, or an expression of a spec that fails."""


class ExpressionError(DrawError):
    """An expression of a spec that can't be read, uses an unknown name, or fails."""


class UndefinedValueError(ExpressionError):
    """An expression without a finite value for these numbers, such as a division by zero."""


def internal_fault(error: Exception) -> str:
    """Return a line about what stopped work on one file: never the fault of whoever handed it in.

    For the nets around single files. A deliberate error says what it says; for any other, no reader and no
    judge may raise it, so the line names the place in our code.
    """
    if isinstance(error, SoftmarkError):
        return " ".join(line.strip() for line in error.lines())
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    # Of a foreign value only as much as says what it is, and nothing that can't be shown or stored.
    what = "".join(c if c.isprintable() else "\ufffd" for c in str(error)[:200])
    return f"a fault of Softmark: {type(error).__name__}: {what}{place}"
