"""The terminal: prose, questions, progress and tables; plain text when piped.

Every command imports this module, so it is light: rich is loaded by the first table. Piped output has lines
of any length, no bars and no colour, so that scripts and ``grep`` see whole lines.
"""

from __future__ import annotations

import codecs
import errno
import json
import shutil
import sys
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from engine.text.words import clean, plain_points

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as RichText

# rich needs a width; nobody's table is wider, so piped rows stay on one line each.
PIPED_WIDTH = 1000


def print_json(document: Any) -> None:
    """Print one JSON document on standard output, letters as they are."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))


def number(value: float) -> str:
    """Return points as every page and file shows them: ``2``, ``0.5``, ``0.33``."""
    return str(plain_points(value))


def width(*, err: bool = False) -> int | None:
    """Return the columns of the terminal that standard output (or error) is, None where it is none."""
    stream = sys.stderr if err else sys.stdout
    # Some pseudo-terminals say 0 columns; below 20 no word would fit.
    return max(20, shutil.get_terminal_size().columns) if stream.isatty() else None


def wrapped(text: str, columns: int | None) -> str:
    """Break long lines between words; continuation lines are indented like the first one."""
    if columns is None:
        return text
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip(" "))]
        # Ids, paths and commands are copied from the output: neither they nor their hyphens are broken.
        broken = textwrap.wrap(
            line, columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        lines += [line] if len(line) <= columns else broken
    return "\n".join(lines)


def say(text: str = "", *, err: bool = False) -> None:
    """Print prose; on a terminal no word is broken."""
    click.echo(wrapped(text, width(err=err)), err=err)


def ask(text: str) -> str:
    """Ask for one line, with nothing as the default; on a terminal no word of the question is broken."""
    columns = width()
    # click adds a colon and a blank.
    prompt = wrapped(text, None if columns is None else columns - 2)
    return str(click.prompt(prompt, default="", show_default=False))


def confirm(text: str) -> bool:
    """Ask a question until it is answered with yes or no; Enter is no."""
    while True:
        reply = ask(f"{text} [y/N]").strip().casefold()
        if reply in ("y", "yes"):
            return True
        if reply in ("", "n", "no"):
            return False
        say("this is neither yes nor no\n  next: type y for yes, n or Enter for no")


def discard_typed_ahead() -> None:
    """Forget keys typed while nothing was asked: they would answer the next question."""
    try:
        if not sys.stdin.isatty():
            return
        import termios
    except (ImportError, ValueError):  # Windows has no termios; a closed input raises ValueError
        return
    try:
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    except (termios.error, OSError, ValueError):
        return


@contextmanager
def progress_bar(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function that advances the bar by one.

    Nothing is shown when piped. A single piece of work has no bar, only the label: a bar that jumps from
    nothing to full says less.
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
def running(label: str) -> Iterator[None]:
    """Show ``label…`` while a piece of work of unknown length goes on; it is gone afterwards."""
    if not sys.stderr.isatty():
        yield
        return
    # Without a newline, so that a carriage return can erase it.
    text = f"{label}…"
    click.echo(text, nl=False, err=True)
    try:
        yield
    finally:
        click.echo("\r" + " " * len(text) + "\r", nl=False, err=True)


def console() -> Console:
    """Return a console on standard output: colour on a terminal only, no markup ever."""
    from rich.console import Console

    # Student ids and file names may hold what rich would take for markup or emoji.
    out = Console(
        width=None if sys.stdout.isatty() else PIPED_WIDTH, markup=False, highlight=False, emoji=False
    )
    out.on_broken_pipe = _raise_broken_pipe  # type: ignore[method-assign]
    return out


def _raise_broken_pipe() -> None:
    # rich would exit with 1; :func:`engine.commands.run` ends quietly, as for click's output.
    raise BrokenPipeError(errno.EPIPE, "nobody reads the output")


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str | RichText]], title: str = "") -> None:
    """Print a table; cells are plain text, cleaned here.

    Words are never broken, so that an id can be copied. A table too wide for that is printed row by row, each
    cell behind the name of its column.
    """
    from rich.cells import cell_len
    from rich.table import Table
    from rich.text import Text as RichText

    cells = [[c if isinstance(c, RichText) else RichText(clean(c)) for c in row] for row in rows]
    out = console()
    texts = [[name, *(row[index].plain for row in cells)] for index, name in enumerate(columns)]
    least = [max([cell_len(word) for text in column for word in text.split()] or [0]) for column in texts]
    room = out.width - 2 * (len(least) - 1)  # two blanks between columns
    # Piped rows are as long as they need.
    if out.is_terminal and sum(least) > room:
        _print_rows(out, columns, cells, title)
        return
    table = Table(title=title or None, box=None, pad_edge=False, title_justify="left", header_style="bold")
    widest = [max(cell_len(line) for text in column for line in text.split("\n")) for column in texts]
    for name, size in zip(columns, _column_widths(least, widest, room), strict=True):
        table.add_column(name, overflow="fold", width=size)
    for row in cells:
        table.add_row(*row)
    print_table(out, table)


def _column_widths(least: Sequence[int], widest: Sequence[int], room: int) -> list[int]:
    """Return how wide columns are: as wide as their texts where there is room, never narrower than a word.

    rich isn't left to shrink them: it wraps the text of a column with a `min_width` before this applies, and
    cuts off what is beyond.
    """
    widths = list(least)
    # The room goes to the narrowest column that can use it, one character at a time, so all wrap alike.
    for _ in range(room - sum(least)):
        growing = [index for index, size in enumerate(widths) if size < widest[index]]
        if not growing:
            break
        widths[min(growing, key=widths.__getitem__)] += 1
    return widths


def _print_rows(
    out: Console, columns: Sequence[str], cells: Sequence[Sequence[RichText]], title: str
) -> None:
    from rich.text import Text as RichText

    if title:
        out.print(RichText(title, style="italic"))
    for row in cells:
        out.print(row[0], soft_wrap=True, style="bold")
        for name, cell in zip(columns[1:], row[1:], strict=True):
            if cell.plain.strip():
                out.print(RichText(f"  {name}: " if name else "  ").append_text(cell))


def print_table(out: Console, table: Table) -> None:
    """Print a table of rich's without trailing blanks where it is piped."""
    from rich.text import Text as RichText

    if out.is_terminal:
        out.print(table)
        return
    # rich fills every cell with blanks; a script's lines shouldn't end in them.
    with out.capture() as capture:
        out.print(table)
    for line in capture.get().splitlines():
        out.print(RichText(line.rstrip()))


_ASCII_SIGNS = {
    "✓": "+", "✗": "x", "–": "-", "—": "-", "−": "-", "→": "->", "…": "...", "·": "*", "×": "x",
    "“": '"', "”": '"', "’": "'", "≤": "<=", "≥": ">=", "≠": "!=", "√": "sqrt", "∑": "sum",
    "∞": "infinity", "\u0302": "^",  # the last one is a hat, behind its letter
}  # fmt: skip


def replace_signs() -> None:
    """Have standard output and error write what their encoding lacks in its nearest letters.

    Without it ✓ and ✗ would both be ``?`` in an ASCII locale.
    """
    codecs.register_error("softmark", _nearest_letters)
    for stream in (sys.stdout, sys.stderr):
        # Tests put other objects in the place of these streams.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="softmark")


def _nearest_letters(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii_sign, error.object[error.start : error.end])), error.end


def _ascii_sign(sign: str) -> str:
    """Return a sign in ASCII: ``->`` for →, ``alpha`` for α, ``e`` for é; ``?`` where nothing is near."""
    if sign in _ASCII_SIGNS:
        return _ASCII_SIGNS[sign]
    name = unicodedata.name(sign, "").replace("LAMDA", "LAMBDA")  # Unicode spells it without a B
    # Three blanks: accented and archaic letters have longer names.
    if name.startswith("GREEK SMALL LETTER ") and name.count(" ") == 3:
        return name.rpartition(" ")[2].lower()
    if name.startswith("GREEK CAPITAL LETTER ") and name.count(" ") == 3:
        return name.rpartition(" ")[2].capitalize()
    plain = "".join(c for c in unicodedata.normalize("NFKD", sign) if c.isascii())
    return plain or "?"
