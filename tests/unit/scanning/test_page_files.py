"""Files of scans: what is read, and what is refused before it takes memory."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine.scanning.page_files import ScanImage, ScanProblem, count_pages, pages_of, scan_files

typst = pytest.importorskip("typst")


def page(grey: int = 200, size: tuple[int, int] = (1754, 1240)) -> np.ndarray:
    return np.full(size, grey, np.uint8)


def read(path: Path) -> list[ScanImage | ScanProblem]:
    return list(pages_of(path, path.name))


def pdf_of(pages: int, size: str = 'paper: "a4"') -> bytes:
    return typst.compile((f"#set page({size})\n" + "#pagebreak()\n".join(["text\n"] * pages)).encode())


def test_every_kind_of_file_gives_its_pages_in_order(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of(3))
    cv2.imwrite(str(tmp_path / "b.png"), page())
    cv2.imwrite(str(tmp_path / "c.jpg"), page())
    cv2.imwritemulti(str(tmp_path / "d.tif"), [page(10), page(90), page(240)])
    files = scan_files([tmp_path])
    assert [f.name for f in files] == ["a.pdf", "b.png", "c.jpg", "d.tif"]
    assert [count_pages(f) for f in files] == [3, 1, 1, 3]
    for file in files:
        found = read(file)
        assert all(isinstance(item, ScanImage) for item in found), found
        assert [item.source.page for item in found] == list(range(1, count_pages(file) + 1))
        assert all(item.image.dtype == np.uint8 and item.image.ndim == 2 for item in found)  # type: ignore[union-attr]
    tiff = [item.image.mean() for item in read(tmp_path / "d.tif")]  # type: ignore[union-attr]
    assert tiff == pytest.approx([10, 90, 240], abs=1)


def test_an_encrypted_pdf_says_so(tmp_path: Path) -> None:
    import pikepdf

    (tmp_path / "plain.pdf").write_bytes(pdf_of(1))
    with pikepdf.open(tmp_path / "plain.pdf") as document:
        document.save(tmp_path / "locked.pdf", encryption=pikepdf.Encryption(owner="o", user="u"))
    (problem,) = read(tmp_path / "locked.pdf")
    assert isinstance(problem, ScanProblem) and "encrypted" in problem.reason


def test_bombs_are_refused_before_they_unpack(tmp_path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(1000))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(png)
    cv2.imwrite(str(tmp_path / "big.jpg"), page(size=(600, 600)))
    data = bytearray((tmp_path / "big.jpg").read_bytes())
    frame = data.index(b"\xff\xc0")
    data[frame + 5 : frame + 9] = struct.pack(">HH", 60_000, 60_000)
    (tmp_path / "bomb.jpg").write_bytes(data)
    (tmp_path / "huge.pdf").write_bytes(pdf_of(1, "width: 300cm, height: 300cm"))
    for name in ("bomb.png", "bomb.jpg", "huge.pdf"):
        (problem,) = read(tmp_path / name)
        assert isinstance(problem, ScanProblem), name
        assert "unpack" in problem.reason or "inches" in problem.reason


@pytest.mark.parametrize("depth", [0, 2, 9])
def test_a_picture_that_unpacks_to_gigabytes_is_refused_however_deep_it_lies(
    tmp_path: Path, depth: int
) -> None:
    import pikepdf

    pdf = pikepdf.new()
    pdf.add_blank_page(page_size=(595, 842))
    kind, size = pikepdf.Name.Image, {"/Width": 60_000, "/Height": 60_000, "/BitsPerComponent": 8}
    drawn = pdf.make_stream(bytes(1000), {"/Subtype": kind, "/ColorSpace": pikepdf.Name.DeviceGray, **size})
    for _ in range(depth):
        form = {"/Subtype": pikepdf.Name.Form, "/BBox": pikepdf.Array([0, 0, 1, 1])}
        inside = {"/Resources": pikepdf.Dictionary(XObject=pikepdf.Dictionary(Im=drawn))}
        drawn = pdf.make_stream(b"/Im Do", {**form, **inside})
    pdf.pages[0].Resources = pikepdf.Dictionary(XObject=pikepdf.Dictionary(Im=drawn))
    pdf.pages[0].Contents = pdf.make_stream(b"q 595 0 0 842 0 0 cm /Im Do Q")
    pdf.save(tmp_path / "deep.pdf")
    (problem,) = read(tmp_path / "deep.pdf")
    assert isinstance(problem, ScanProblem) and "unpack" in problem.reason


def test_a_strip_of_a_page_is_no_page(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "thin.png"), page(size=(3000, 200)))
    (problem,) = read(tmp_path / "thin.png")
    assert isinstance(problem, ScanProblem) and "200 × 3000 pixels" in problem.reason


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.7\n%%EOF",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0\0\x02",
        b"\xff\xd8\xff\xe0\0\0" * 9,
        b"II*\0\x08\0\0\0",
        b"II*\0\x08\0\0\0\xff\xff" + bytes(40),
        b"MM\0*\0\0\0\x08\0\0\0\0\0\x08",
        b"PK\x03\x04zip",
    ],
)
def test_damaged_files_are_problems_and_never_tracebacks(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "x.pdf"
    path.write_bytes(data)
    found = read(path)
    assert found and all(isinstance(item, ScanProblem) for item in found)
    assert count_pages(path) >= 1


def test_cut_off_files_of_each_kind_lose_their_own_pages_only(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), page())
    cv2.imwritemulti(str(tmp_path / "a.tif"), [page(10), page(20)])
    (tmp_path / "a.pdf").write_bytes(pdf_of(2))
    for name in ("a.png", "a.tif", "a.pdf"):
        data = (tmp_path / name).read_bytes()
        for share in (0.2, 0.5, 0.9):
            cut = tmp_path / f"cut-{name}"
            cut.write_bytes(data[: int(len(data) * share)])
            assert read(cut)


def test_a_file_of_400_pages_is_read_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf_of(400, "width: 60mm, height: 85mm"))
    count = 0
    for item in pages_of(tmp_path / "a.pdf", "a.pdf"):
        count += 1
        assert item.source.page == count
        del item
    assert count == 400
