"""What is uploaded or typed on the site is the submission that ``grade submit`` makes of it."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from engine.errors import InputError, SubmissionError
from engine.intake import read_code_file, read_submission, uploads
from engine.intake.download_entries import FoundEntries
from engine.intake.unpack import read_source
from engine.intake.uploads import read_typed, read_upload
from engine.model import CodeSubmission

MAIN = "import helpers\nimport json\n\ndef softmax(x, axis=-1):\n    return helpers.soft(x)\n"
HELPERS = "def soft(x):\n    return x\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def stored(work: Path, files: dict[str, bytes | str]) -> list[tuple[str, Path]]:
    """Store the files as the site does: under numbers."""
    uploads = []
    for number, (name, data) in enumerate(files.items()):
        path = work.parent / f"upload-{number}"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        uploads.append((name, path))
    return uploads


def upload(work: Path, files: dict[str, bytes | str]) -> CodeSubmission:
    return read_upload(stored(work, files), "softmax", work)


def zipped(files: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def tarred(files: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return data.getvalue()


@pytest.fixture
def by_command(tmp_path: Path) -> CodeSubmission:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "softmax.py").write_text(MAIN)
    (folder / "helpers.py").write_text(HELPERS)
    return read_submission(folder, "softmax")


BLOCK = "".join(f"# {number:>9}" + "-" * 52 + "\n" for number in range(2**13))  # half a MiB
BOTH = {"softmax.py": MAIN, "helpers.py": HELPERS}


@pytest.mark.parametrize(
    "files",
    [
        BOTH,
        {f"my project/{name}": text for name, text in BOTH.items()},
        {"mine.zip": zipped(BOTH)},
        {
            "mine.zip": zipped(
                {f"mine/{name}": text for name, text in BOTH.items()} | {"mine/data.bin": b"\0"}
            )
        },
        {"mine.zip": zipped({"__MACOSX/._softmax.py": "junk"} | BOTH)},
        {"mine.tar.gz": tarred(BOTH)},
        {"outer.zip": zipped({"inner.zip": zipped(BOTH)})},
        BOTH | {"notes.txt": "ignored", "other.py": "y = 1\n"},
        {"a/softmax.py": MAIN, "a/helpers.py": HELPERS, "b/helpers.py": "def soft(x): return 0\n"},
    ],
)
def test_several_files_a_folder_and_archives(
    work: Path, files: dict[str, str | bytes], by_command: CodeSubmission
) -> None:
    submission = upload(work, files)
    assert submission == by_command
    assert submission.modules == {"helpers": HELPERS}


def test_a_file_alone(work: Path, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text(HELPERS)
    # It needn't define the function: grading says what is missing.
    assert upload(work, {"C\\fakepath\\softmax.py": HELPERS}) == read_code_file(tmp_path / "softmax.py")


def test_a_notebook(work: Path) -> None:
    cells = [{"cell_type": "code", "source": "def softmax(x, axis=-1):\n    return x"}]
    notebook = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4})
    assert "def softmax" in upload(work, {"My work.ipynb": notebook}).source
    assert upload(work, {"a.zip": zipped({"My work.ipynb": notebook})}).filename == "My work.ipynb"


def test_typed_text_is_the_file_of_that_text(work: Path, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text(MAIN.replace("import helpers\n", ""), newline="\n")
    typed = read_typed(MAIN.replace("import helpers\n", "").replace("\n", "\r\n"), "softmax.py", work)
    assert typed == read_code_file(tmp_path / "softmax.py")


def cells(count: int, source: str = "x") -> str:
    one = json.dumps({"cell_type": "code", "source": source})
    return '{"nbformat": 4, "metadata": {}, "cells": [' + ",".join([one] * count) + "]}"


DEEP = zipped({"a.zip": zipped({"b.zip": zipped({"c.zip": zipped({"d.zip": zipped(BOTH)})})})})


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "nothing was chosen"),
        ({"softmax.py": ""}, "the file is empty"),
        ({"softmax.py": "x" * (2**20 + 1)}, "the file is too large"),
        ({"softmax.py": b"\x89PNG\r\n\x1a\n" + b"\0" * 50}, "this is"),
        ({"notes.txt": "hello"}, "there is no code in it"),
        ({"mine.rar": b"Rar!"}, "this kind of archive isn't opened"),
        ({"mine.zip": b"PK no zip"}, ""),
        ({"mine.zip": zipped({"softmax.py": "#" + "0" * 30_000_000})}, "bombs"),
        ({"mine.zip": zipped({f"{n}.py": "x" for n in range(2_001)})}, "too many"),
        ({"mine.zip": DEEP}, "deep in one another"),
        ({"mine.zip": zipped({"../softmax.py": MAIN})}, "leads out of the archive"),
        ({"../../softmax.py": MAIN, "x.py": "y"}, "leads out of the archive"),
        ({"a\0b.py": MAIN, "x.py": "y"}, "control characters"),
        ({f"{n}.py": "x = 1" for n in range(201)}, "too many code files"),
        ({f"{n}.py": "#" * 2**19 for n in range(5)}, "too much code"),
        ({"a.py": MAIN, "b.py": MAIN}, "two files define softmax"),
        ({"a.py": "x = 1", "b.py": "y = 1"}, "no file in this folder defines softmax"),
        ({"n.ipynb": cells(10**6)}, "too large"),
        ({"n.ipynb": cells(200_000)}, "too many cells"),
        ({"n.ipynb": cells(15_000, "y" * 900)}, "code is too large"),
        ({"n.ipynb": "[" * 100_000}, "isn't valid JSON"),
    ],
)
def test_one_clear_sentence(work: Path, files: dict[str, bytes | str], message: str) -> None:
    with pytest.raises(InputError) as raised:
        upload(work, files)
    error = raised.value
    assert message in error.what
    text = "\n".join(error.lines())
    assert str(work.parent) not in text, "where it lies on the server is nobody's business"
    assert len(text) < 600
    assert sum(path.stat().st_size for path in work.rglob("*") if path.is_file()) < 80 * 2**20


@pytest.mark.parametrize("text", ["", "  \r\n ", "x" * (2**20 + 1), "a\0b", "\ud800"])
def test_typed_text_that_is_refused(work: Path, text: str) -> None:
    with pytest.raises(InputError):
        read_typed(text, "softmax.py", work)


def test_all_archives_of_a_hand_in_have_one_budget(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As much as one archive may unpack to, and not as much for each of two hundred."""
    full = zipped({f"{number}.csv": BLOCK for number in range(40)})  # unpacks to 20 MiB
    most = 0

    def measured(path: Path, *args: object) -> FoundEntries:
        nonlocal most
        entries = read_source(path, *args)  # type: ignore[arg-type]
        most = max(most, sum(path.stat().st_size for path in work.rglob("*") if path.is_file()))
        return entries

    monkeypatch.setattr(uploads, "read_source", measured)
    with pytest.raises(SubmissionError, match="too much in what is handed in"):
        upload(work, {f"{number}.zip": full for number in range(20)} | BOTH)
    assert 55 * 2**20 < most < 66 * 2**20
    again = work / "again"
    again.mkdir()
    assert upload(again, {f"{number}.zip": full for number in range(3)} | BOTH).filename == "softmax.py"


def test_what_is_unpacked_only_to_be_read_counts_too(work: Path) -> None:
    packed = zipped({"w.tar.gz": tarred({"notes.md": BLOCK * 18})})
    with pytest.raises(SubmissionError, match=r"unpacks to more than \d MiB"):
        upload(work, {f"{number}.zip": packed for number in range(9)} | BOTH)


@pytest.mark.parametrize(("count", "is_too_many"), [(2, False), (3, True)])
def test_many_archives_of_many_files(work: Path, count: int, is_too_many: bool) -> None:
    many = zipped({f"{number}.txt": "x" for number in range(900)})
    files = {f"{number}.zip": many for number in range(count)} | BOTH
    if not is_too_many:
        assert upload(work, files).filename == "softmax.py"
        return
    with pytest.raises(SubmissionError, match="too many"):
        upload(work, files)


def test_after_a_fault_nothing_more_is_unpacked(work: Path) -> None:
    bomb = zipped({"softmax.py": "#" + "0" * 30_000_000})
    with pytest.raises(InputError, match="bombs"):
        upload(work, {f"{number}.zip": bomb for number in range(50)})
    assert len(list(work.iterdir())) == 1
