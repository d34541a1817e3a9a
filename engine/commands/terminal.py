"""What is particular to a terminal: progress, word wrap, keys typed too early, encodings without ✓.

Piped output gets none of it: lines there are as long as they are, and no bar is shown. The module imports
nothing heavy, since ``grade --help`` needs it.
"""

from __future__ import annotations

import codecs
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = [
    "ask",
    "confirm",
    "drop_typed",
    "progress_bar",
    "replace_signs",
    "running",
    "say",
    "width",
    "wrapped",
]


_SIGNS = {
    "✓": "+",
    "✗": "x",
    "–": "-",
    "—": "-",
    "−": "-",
    "→": "->",
    "…": "...",
    "·": "*",
    "×": "x",
    "“": '"',
    "”": '"',
    "’": "'",
    "≤": "<=",
    "≥": ">=",
    "√": "sqrt",
    "∑": "sum",
    "≠": "!=",
    "∞": "infinity",
    "\u0302": "^",  # a hat, behind its letter
}


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function that advances the bar by one; nothing is shown when piped.

    A single piece of work has no bar, only the label.
    """
    if not sys.stderr.isatty():
        yield lambda: None
        return
    if total < 2:
        with running(label):
            yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.advance(task)


@contextmanager
def running(what: str) -> Iterator[None]:
    """Show ``what…`` while a piece of work of unknown length goes on; it is gone afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    text = f"{what}…"
    click.echo(text, nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r" + " " * len(text) + "\r", nl=False, err=True)


def drop_typed() -> None:
    """Forget keys that were typed while nothing was asked: they would answer the next question."""
    try:
        if not sys.stdin.isatty():
            return
        import termios
    except (ImportError, ValueError):  # no such terminals here, or the input is closed
        return
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        return


def width(*, err: bool = False) -> int | None:
    """Return the columns of the terminal that standard output (or error) is, None where it is none."""
    stream = sys.stderr if err else sys.stdout
    return max(20, shutil.get_terminal_size().columns) if stream.isatty() else None


def wrapped(text: str, columns: int | None) -> str:
    """Break long lines between words; a line's further rows are indented as its first one is."""
    if columns is None:
        return text
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        broken = textwrap.wrap(
            line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += [line] if len(line) <= columns else broken
    return "\n".join(lines)


def say(text: str = "", *, err: bool = False) -> None:
    """Print prose: on a terminal no word is broken."""
    click.echo(wrapped(text, width(err=err)), err=err)


def ask(text: str) -> str:
    """Ask for one line, with nothing as the default; on a terminal no word of the question is broken."""
    columns = width()
    said: str = click.prompt(
        wrapped(text, None if columns is None else columns - 2), default="", show_default=False
    )
    return said


def confirm(text: str) -> bool:
    """Ask a question until it is answered with yes or no; Enter is no."""
    while True:
        said = ask(f"{text} [y/N]").strip().casefold()
        if said in ("y", "yes"):
            return True
        if said in ("", "n", "no"):
            return False
        say("this is neither yes nor no\n  next: type y for yes, n or Enter for no")


def replace_signs() -> None:
    """Have standard output and error write what their encoding lacks in its nearest letters.

    Without it ✓ and ✗ would both be ``?`` in an ASCII locale.
    """
    codecs.register_error("softmark", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="softmark")


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_letters, error.object[error.start : error.end])), error.end


def _letters(sign: str) -> str:
    """Return a sign in ASCII: ``->`` for →, ``alpha`` for α, ``e`` for é; ``?`` where nothing is near."""
    if sign in _SIGNS:
        return _SIGNS[sign]
    name = unicodedata.name(sign, "").replace("LAMDA", "LAMBDA")  # Unicode spells it without a B
    if name.startswith("GREEK SMALL LETTER ") and name.count(" ") == 3:
        return name.rpartition(" ")[2].lower()
    if name.startswith("GREEK CAPITAL LETTER ") and name.count(" ") == 3:
        return name.rpartition(" ")[2].capitalize()
    plain = "".join(c for c in unicodedata.normalize("NFKD", sign) if c.isascii())
    return plain or "?"
