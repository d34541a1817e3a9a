"""What a browser sends: read within limits while it streams, so that nobody fills memory or disk.

Fields are text. Files are written into a folder of their request, under numbers and never under the names
that they came with; the names are foreign text, for messages only.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from engine.errors import InputError, UsageError
from engine.text.words import count_noun

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_FIELDS = 1000
MOST_FIELD_BYTES = 1 << 20  # an answer of a megabyte can be read, and is refused by its own type with reason
MOST_FILES = 200
# What browsers take as the value of an input of that type; anything else they show as nothing.
_INPUTS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "date": (date.fromisoformat, r"\d{4}-\d\d-\d\d"),
    "time": (time.fromisoformat, r"\d\d:\d\d(:\d\d)?"),
    "datetime-local": (datetime.fromisoformat, r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?"),
}
# A form must be there half a minute after its head, or later by what a slow mobile line needs for it: one
# that is sent byte by byte would keep its folder and its place for hours.
_HEAD_START_S: Final = 30.0
_SLOWEST: Final = 4096  # bytes a second


class FormTooLargeError(InputError):
    """More was sent than is taken: status 413."""


class SlowFormError(InputError):
    """A form comes too slowly to be waited for: status 408."""


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file that came with a form.

    Parameters
    ----------
    name : str
        As the browser said it, with the folder where a folder was chosen: foreign text.
    path : Path
        Where its bytes are until the request ends.
    size : int
        Bytes.
    """

    name: str
    path: Path
    size: int


@dataclass(frozen=True)
class Form:
    """The fields and files of a request."""

    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)
    uploads: Mapping[str, Sequence[UploadedFile]] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """Return a field's text; the first where it came several times."""
        texts = self.fields.get(name)
        return texts[0] if texts else default

    def texts(self, name: str) -> Sequence[str]:
        """Return all texts of a field that may come several times."""
        return self.fields.get(name, ())

    def moment(self, name: str) -> str:
        """Return a day with its time, where there is one: of one field, or of a second one, ``…_time``."""
        return " ".join(filter(None, (self.text(key).strip() for key in (name, f"{name}_time"))))

    def files(self, name: str) -> Sequence[UploadedFile]:
        """Return the files of a field; an input that was left empty gives none."""
        return self.uploads.get(name, ())


def whole_number(text: str, default: int = 0) -> int:
    """Return the whole number of an address or form, the default for anything else."""
    # Below ten digits it fits into every column of a database; other scripts' digits nobody's page sends.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else default


def input_type(kind: str, text: str) -> str:
    """Return the type of an input for a date or time: ``text`` for what no browser's own field would show.

    Parameters
    ----------
    kind : str
        ``date``, ``time`` or ``datetime-local``.
    text : str
        What stands in it; what can't be read comes back as it was typed.
    """
    read, shape = _INPUTS[kind]
    try:
        is_plain = not text or (re.fullmatch(shape, text) is not None and read(text) is not None)
    except ValueError:
        is_plain = False
    return kind if is_plain else "text"


async def read_form(request: Request, most_bytes: int, folder: Path | None) -> Form:
    """Read the form of a request.

    Parameters
    ----------
    request : Request
    most_bytes : int
        Of the whole body.
    folder : Path or None
        Where files are written; None refuses them.

    Raises
    ------
    FormTooLargeError
        The body is longer, or has too many fields or files.
    SlowFormError
        It comes too slowly.
    UsageError
        It isn't a form.
    """
    from starlette.exceptions import HTTPException
    from starlette.formparsers import MultiPartException
    from starlette.requests import ClientDisconnect

    _check_length(request, most_bytes)
    _bound(request, most_bytes)
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().casefold()
    if kind not in ("application/x-www-form-urlencoded", "multipart/form-data"):
        if await _is_empty(request):
            return Form()
        raise UsageError(
            "this isn't a form", got=kind or "no content type", next_step="use the page's own form"
        )
    _check_charset(header)
    try:
        data = await request.form(
            max_files=MOST_FILES if folder is not None else 0,
            max_fields=MOST_FIELDS,
            max_part_size=MOST_FIELD_BYTES,
        )
    except (MultiPartException, HTTPException) as error:
        detail = str(getattr(error, "message", None) or getattr(error, "detail", ""))
        if "exceeded" in detail or "Too many" in detail:
            raise FormTooLargeError(
                "the form is too large",
                expected=f"at most {count_noun(MOST_FIELDS, 'field')} of {MOST_FIELD_BYTES >> 20} MiB each "
                f"and {count_noun(MOST_FILES, 'file')}",
                next_step="send less at a time",
            ) from error
        raise UsageError("the form can't be read", got=detail, next_step="send it again") from error
    except ClientDisconnect as error:
        raise UsageError("the form came only in part", next_step="send it again") from error
    try:
        return await _sorted_out(data, folder)
    finally:
        await data.close()


async def _sorted_out(data: object, folder: Path | None) -> Form:
    from starlette.datastructures import FormData, UploadFile

    assert isinstance(data, FormData)
    fields: dict[str, list[str]] = {}
    uploads: dict[str, list[UploadedFile]] = {}
    count = 0
    for name, value in data.multi_items():
        if isinstance(value, UploadFile):
            # A file input that was left empty sends a file without a name.
            if folder is None or not (value.filename or value.size):
                continue
            path = folder / f"upload-{count}"
            count += 1
            size = 0
            with path.open("wb") as file:
                while chunk := await value.read(1 << 18):
                    file.write(chunk)
                    size += len(chunk)
            uploads.setdefault(name, []).append(UploadedFile(value.filename or "file", path, size))
        else:
            fields.setdefault(name, []).append(value)
    return Form(fields, uploads)


async def _is_empty(request: Request) -> bool:
    async for chunk in request.stream():
        if chunk:
            return False
    return True


def _too_large(most_bytes: int) -> FormTooLargeError:
    return FormTooLargeError(
        "this is too large",
        expected=f"at most {most_bytes / (1 << 20):.3g} MiB",
        next_step="leave out what the exercise doesn't need: data, results, pictures",
    )


def _check_charset(header: str) -> None:
    # Some of Python's other codecs make texts that neither a store nor a page can hold; no browser asks for
    # one, because our pages are in UTF-8.
    from python_multipart.multipart import parse_options_header

    _, options = parse_options_header(header.encode("latin-1"))
    charset = options.get(b"charset", b"utf-8").decode("latin-1").strip()
    if charset.casefold() not in ("utf-8", "utf8", "us-ascii"):
        raise UsageError("the form isn't in UTF-8", got=charset[:40], next_step="use the page's own form")


def _check_length(request: Request, most_bytes: int) -> None:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most_bytes:
        raise _too_large(most_bytes)


def _bound(request: Request, most_bytes: int) -> None:
    """Make reading the body end with an error as soon as it is too long or late, whatever its head said."""
    receive = request._receive
    so_far = 0
    began = asyncio.get_running_loop().time()

    async def bounded() -> object:
        nonlocal so_far
        try:
            async with asyncio.timeout_at(began + _HEAD_START_S + so_far / _SLOWEST):
                message = await receive()
        except TimeoutError as error:
            raise SlowFormError(
                "the form came too slowly, and wasn't taken",
                next_step="send it again, over a better connection if you can",
            ) from error
        so_far += len(message.get("body", b""))
        if so_far > most_bytes:
            raise _too_large(most_bytes)
        return message

    request._receive = bounded  # type: ignore[assignment]
