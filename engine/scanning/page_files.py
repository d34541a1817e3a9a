"""Pages of scanned files, one after the other: PDF, PNG, JPEG, and TIFF with several pages.

Files come from many scanners and phones, and some from nobody's: what a file says of its size is checked
before a pixel of it is made, and a file of 400 pages takes no more memory than one of its pages.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from engine.scanning.page_straightening import GreyImage
from engine.text.words import clean_line, count_noun

# Of a page: A3 in colour at 600 dpi has 70 million. What unpacks to more is a bomb, or no page of an exam.
_MOST_PIXELS = 120_000_000
_MOST_BYTES = 2 * 2**30
_MOST_PAGES = 20_000
# What a page is reduced to, along its longer side: 300 dpi of A4. More shows no more pencil.
_LONGEST_SIDE = 3_600
_LEAST_SIDE, _LEAST_WIDTH = 500, 300
_RENDER_DPI = 200.0
_MOST_POINTS = 5_000.0
# Forms within forms: PDFium itself draws no deeper ones.
_DEEPEST = 45
SUFFIXES = (".pdf", ".png", ".jpg", ".jpeg", ".tif", ".tiff")


@dataclass(frozen=True, slots=True)
class PageSource:
    """Where a page comes from."""

    file: str
    page: int
    pages: int

    def words(self) -> str:
        """Return e.g. ``batch-1.pdf, page 3``; the name alone for a picture."""
        name = clean_line(self.file, 100)
        return name if self.pages == 1 else f"{name}, page {self.page}"


@dataclass(frozen=True, slots=True)
class ScanImage:
    """A page as pixels, grey, shape (rows, columns)."""

    source: PageSource
    image: GreyImage


@dataclass(frozen=True, slots=True)
class ScanProblem:
    """A file or page from which nothing is taken, and why."""

    source: PageSource
    reason: str


class _FaultyFileError(Exception):
    """What is wrong with a file, in a sentence."""


def scan_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files that are meant: those named, and those with a scan's suffix in folders named."""
    chosen = []
    for path in paths:
        if path.is_dir():
            inside = [p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file()]
            chosen += sorted(inside)
        else:
            chosen.append(path)
    return list(dict.fromkeys(chosen))


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def count_pages(path: Path) -> int:
    """Return how many pages a file has, 1 for one that can't be read: for the bar that shows progress."""
    try:
        kind = _kind_of(path)
        if kind == "pdf":
            with _pdf(path) as document:
                return len(document)
        return max(1, cv2.imcount(str(path))) if kind == "tiff" else 1
    except (_FaultyFileError, OSError, cv2.error):
        return 1


def pages_of(path: Path, name: str) -> Iterator[ScanImage | ScanProblem]:
    """Yield the pages of one file; a faulty page or file becomes a problem, and the others go on.

    Parameters
    ----------
    path : Path
    name : str
        What the file is called in messages.
    """
    whole = PageSource(name, 1, 1)
    try:
        kind = _kind_of(path)
        if kind == "pdf":
            yield from _pdf_pages(path, name)
        elif kind == "tiff":
            yield from _tiff_pages(path, name)
        else:
            yield _picture(path, whole, kind)
    except _FaultyFileError as error:
        yield ScanProblem(whole, str(error))
    except OSError as error:
        yield ScanProblem(whole, f"the file can't be read: {error.strerror or type(error).__name__}")
    except MemoryError:
        yield ScanProblem(whole, "it doesn't fit into memory")


def _kind_of(path: Path) -> str:
    size = path.stat().st_size
    if size > _MOST_BYTES:
        raise _FaultyFileError(f"the file has more than {_MOST_BYTES // 2**30} GB: scan in several files")
    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise _FaultyFileError("the file is empty")
    if b"%PDF-" in head:
        return "pdf"
    for kind, begin in (("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff")):
        if head.startswith(begin):
            return kind
    if head[:4] in (b"II*\0", b"MM\0*"):
        return "tiff"
    raise _FaultyFileError("this isn't a PDF, PNG, JPEG or TIFF file")


def _picture(path: Path, source: PageSource, kind: str) -> ScanImage | ScanProblem:
    width, height = _png_size(path) if kind == "png" else _jpeg_size(path)
    fault = _size_fault(width, height)
    if fault:
        return ScanProblem(source, fault)
    # Halves or quarters come straight out of a JPEG file, where it is that much larger than a page must be.
    image = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
    if image is None:
        return ScanProblem(source, "the picture is damaged")
    return ScanImage(source, _reduced(image))


def _size_fault(width: int, height: int) -> str | None:
    if width * height > _MOST_PIXELS:
        return f"it would unpack to {width} × {height} pixels, which no page of an exam has"
    if max(width, height) < _LEAST_SIDE or min(width, height) < _LEAST_WIDTH:
        return f"it has {width} × {height} pixels only: scan at 150 dpi at least"
    return None


def _reduced(image: Any) -> GreyImage:
    longest = max(image.shape)
    if longest > _LONGEST_SIDE:
        factor = _LONGEST_SIDE / longest
        image = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(image, dtype=np.uint8)


def _png_size(path: Path) -> tuple[int, int]:
    with path.open("rb") as file:
        head = file.read(24)
    if len(head) < 24 or head[12:16] != b"IHDR":
        raise _FaultyFileError("the picture is damaged")
    width, height = struct.unpack(">II", head[16:24])
    return width, height


# Segments before the picture itself: previews and profiles, some hundred at most.
_MOST_SEGMENTS = 10_000


def _jpeg_size(path: Path) -> tuple[int, int]:
    with path.open("rb") as file:
        file.seek(2)
        for _ in range(_MOST_SEGMENTS):
            head = file.read(4)
            if len(head) < 4 or head[0] != 0xFF:
                break
            marker, length = head[1], int.from_bytes(head[2:4], "big")
            # The frame header: every kind of it but the tables that share its range.
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                frame = file.read(5)
                if len(frame) < 5:
                    break
                height, width = struct.unpack(">HH", frame[1:5])
                return width, height
            file.seek(max(0, length - 2), 1)
    raise _FaultyFileError("the picture is damaged")


def _tiff_sizes(path: Path) -> list[tuple[int, int]]:
    """Return width and height of each page of a TIFF file, from its directories."""
    sizes: list[tuple[int, int]] = []
    visited: set[int] = set()
    with path.open("rb") as file:
        order = "<" if file.read(2) == b"II" else ">"
        file.seek(4)
        place = _unpacked(file, order + "I")
        while place and place not in visited and len(sizes) < _MOST_PAGES:
            visited.add(place)
            file.seek(place)
            width = height = 0
            for _ in range(_unpacked(file, order + "H")):
                tag, kind, _count = struct.unpack(order + "HHI", _exactly(file, 8))
                value = _exactly(file, 4)
                number = struct.unpack(order + ("H" if kind == 3 else "I"), value[: 2 if kind == 3 else 4])[0]
                width = number if tag == 256 else width
                height = number if tag == 257 else height
            sizes.append((width, height))
            place = _unpacked(file, order + "I")
    return sizes


def _exactly(file: Any, count: int) -> bytes:
    data: bytes = file.read(count)
    if len(data) < count:
        raise _FaultyFileError("the TIFF file is cut off")
    return data


def _unpacked(file: Any, layout: str) -> int:
    number: int = struct.unpack(layout, _exactly(file, struct.calcsize(layout)))[0]
    return number


def _tiff_pages(path: Path, name: str) -> Iterator[ScanImage | ScanProblem]:
    sizes = _tiff_sizes(path)
    if not sizes:
        raise _FaultyFileError("the TIFF file has no pages")
    for index, (width, height) in enumerate(sizes):
        source = PageSource(name, index + 1, len(sizes))
        fault = _size_fault(width, height)
        if fault:
            yield ScanProblem(source, fault)
            continue
        try:
            _, images = cv2.imreadmulti(str(path), start=index, count=1, flags=cv2.IMREAD_GRAYSCALE)
        except cv2.error:
            images = ()
        if not images or images[0] is None:
            yield ScanProblem(source, "the picture is damaged, or packed in a way that isn't read here")
            continue
        yield ScanImage(source, _reduced(images[0]))


def _pdf(path: Path) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).casefold():
            raise _FaultyFileError("the PDF is encrypted: save it again without a password") from error
        raise _FaultyFileError("the PDF is damaged") from error


def _pdf_pages(path: Path, name: str) -> Iterator[ScanImage | ScanProblem]:
    import pypdfium2

    with _pdf(path) as document:
        count = len(document)
        if count > _MOST_PAGES:
            raise _FaultyFileError(f"the PDF has {count_noun(count, 'page')}: scan in several files")
        for index in range(count):
            source = PageSource(name, index + 1, count)
            try:
                page = document[index]
            except pypdfium2.PdfiumError:
                yield ScanProblem(source, "the page is damaged")
                continue
            # Closed at once: a page keeps its pictures unpacked, and there may be hundreds.
            try:
                yield _rendered(page, source)
            finally:
                page.close()


def _rendered(page: Any, source: PageSource) -> ScanImage | ScanProblem:
    import pypdfium2

    width, height = page.get_size()
    if not 50.0 < max(width, height) < _MOST_POINTS:
        return ScanProblem(source, f"the page is {width / 72:.1f} × {height / 72:.1f} inches large")
    try:
        for picture in page.get_objects(filter=[pypdfium2.raw.FPDF_PAGEOBJ_IMAGE], max_depth=_DEEPEST):
            fault = _size_fault(*picture.get_px_size())
            if fault and "unpack" in fault:
                return ScanProblem(source, fault)
        scale = min(_RENDER_DPI / 72, _LONGEST_SIDE / max(width, height))
        bitmap = page.render(scale=scale, grayscale=True)
        image = np.array(bitmap.to_numpy(), dtype=np.uint8)
        bitmap.close()
    except pypdfium2.PdfiumError:
        return ScanProblem(source, "the page is damaged")
    return ScanImage(source, _reduced(image.reshape(image.shape[0], image.shape[1])))
