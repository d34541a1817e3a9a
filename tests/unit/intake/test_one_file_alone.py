"""What is wrong with one hand-in, or with our reading of it, never stops the others."""

from __future__ import annotations

import io
import json
import os
import random
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import SubmissionError
from engine.intake import collect
from engine.intake.notebook import notebook_source
from engine.intake.unpack import ArchiveLimits

GOOD = "def softmax(x):\n    return x\n"


@pytest.mark.parametrize(
    "notebook",
    [
        {"worksheets": [{"cells": 5}]},
        {"worksheets": [{"cells": {"a": 1}}]},
        {"worksheets": [{"cells": "code"}]},
        {"worksheets": [[], 3, None, {"cells": None}]},
        {"worksheets": {"cells": []}},
        {"cells": {"0": {}}},
        {"cells": [[], 3, None, "x"]},
        {"cells": [{"cell_type": ["code"], "source": 3}]},
        {"cells": [{"cell_type": "code", "source": [["a"]]}]},
        {"cells": [], "metadata": [{"kernelspec": 3}]},
        {"cells": [], "metadata": {"kernelspec": [], "language_info": {"name": ["python"]}}},
    ],
)
def test_a_notebook_of_any_shape_is_refused_in_words(notebook: Any) -> None:
    with pytest.raises(SubmissionError) as refused:
        notebook_source(json.dumps(notebook), "ada.ipynb")
    assert (refused.value.where or "").startswith("ada.ipynb")


def sparse_tar() -> bytes:
    """Return the header of a sparse file whose map goes on behind the end of the archive."""
    head = bytearray(tarfile.TarInfo("big").tobuf(tarfile.GNU_FORMAT))
    head[156:157] = b"S"
    head[482] = 1
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head)


def pax_tar(records: bytes, headers: int = 1) -> bytes:
    """Return an archive in which extended headers of these records stand before one file."""
    out = io.BytesIO()
    for _ in range(headers):
        info = tarfile.TarInfo("pax")
        info.type, info.size = b"x", len(records)
        out.write(info.tobuf() + records + b"\0" * (-len(records) % 512))
    out.write(tarfile.TarInfo("softmax.py").tobuf())
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        sparse_tar(),
        sparse_tar()[:300],
        pax_tar(b"5 a=\n" * 10_000),
        pax_tar(b"6 size=\n"),
        pax_tar(b"12 size=-99\n"),
        pax_tar(b"20 size=9999999999\n"),
        pax_tar(b"9999999 a=\n"),
        pax_tar(b"5 a=\n", headers=50),
    ],
)
def test_a_tar_of_any_bytes_is_refused_and_the_class_goes_on(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "in" / "ada").mkdir(parents=True)
    (tmp_path / "in" / "bob").mkdir()
    (tmp_path / "in" / "ada" / "work.tar").write_bytes(data)
    (tmp_path / "in" / "bob" / "softmax.py").write_text(GOOD)
    (tmp_path / "work").mkdir()
    intake = collect(tmp_path / "in", tmp_path / "work", items=["softmax"])
    assert [file.name for s in intake.students if s.student == "bob" for file in s.files] == [
        "bob/softmax.py"
    ]
    assert [problem.where for problem in intake.problems] == ["ada/work.tar"]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("engine.intake.download_sorter.quiz_head", "ada/week.yaml"),
        ("engine.intake.download_sorter.read_hand_in", "ada/week.yaml"),
        ("engine.intake.download_sorter.sha256_of_file", "ada/softmax.py"),
        ("engine.intake.download_sorter.sort_folder", "ada/softmax.py"),
        ("engine.intake.code_files.source_of", "ada/one.py"),
        ("engine.intake.unpack.open_archive", "ada/work.zip"),
    ],
)
@pytest.mark.parametrize("fault", [TypeError("five"), IndexError(), RecursionError("deep"), MemoryError()])
def test_a_fault_of_a_reader_is_a_problem_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, name: str, fault: Exception
) -> None:
    folder = tmp_path / "in"
    for student in ("ada", "bob"):
        (folder / student).mkdir(parents=True)
    (folder / name).write_text(GOOD)
    (folder / "ada" / "two.py").write_text("x = 1\n")
    (folder / "bob" / "causal-mask.py").write_text(GOOD)
    (tmp_path / "work").mkdir()
    module, _, function = target.rpartition(".")
    real: Callable[..., Any] = getattr(__import__(module, fromlist=[function]), function)

    def failing(*args: Any, **kwargs: Any) -> Any:
        # Whatever is asked about a file of Ada's fails as no reader may.
        if "/ada/" in repr(args) or function == "quiz_head":
            raise fault
        return real(*args, **kwargs)

    monkeypatch.setattr(target, failing)
    intake = collect(folder, tmp_path / "work", items=["softmax", "causal-mask"])
    assert [f.item for s in intake.students if s.student == "bob" for f in s.files] == ["causal-mask"]
    told = {problem.where: problem.message for problem in intake.problems}
    assert name in told
    if function != "source_of":
        assert type(fault).__name__ in told[name] and "fault of Softmark" in told[name]


# --- what one student hands in takes nobody else's place ---


def packed(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return out.getvalue()


EMPTY = packed({f"{n}.py": b"" for n in range(100)})
GIT = packed({f".git/{n}": b"" for n in range(100)})
FOREIGN = packed({f"{n}.txt": b"" for n in range(100)})


@pytest.mark.parametrize(
    ("junk", "spenders", "as_archive"),
    [(EMPTY, 1, False), (EMPTY, 7, True), (GIT, 1, True), (FOREIGN, 1, False)],
)
def test_a_classmates_zip_is_read_whatever_others_hand_in(
    tmp_path: Path, junk: bytes, spenders: int, as_archive: bool
) -> None:
    files = {f"mal{m}/{n:02d}.zip": junk for m in range(spenders) for n in range(25)}
    files |= {"ada/hw.zip": packed({"softmax.py": GOOD.encode()})}  # before them in the order of names
    files |= {"zoe/hw.zip": packed({"softmax.py": GOOD.encode()}), "yan/softmax.py": GOOD.encode()}
    source = tmp_path / "in"
    if as_archive:
        source = tmp_path / "in.zip"
        source.write_bytes(packed(files))
    else:
        for name, data in files.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes(data)
    (tmp_path / "work").mkdir()
    # a twentieth of the real limits
    limits = ArchiveLimits(entries=2_500, owner_entries=500, inside=100)
    intake = collect(source, tmp_path / "work", items=["softmax"], limits=limits)
    graded = {s.student for s in intake.students for file in s.files if file.item == "softmax"}
    assert graded >= {"ada", "zoe", "yan"}
    assert not [p for p in intake.problems if p.student in {"ada", "zoe", "yan"}]
    for number in range(spenders):
        told = [problem for problem in intake.problems if problem.where.startswith(f"mal{number}")]
        assert 0 < len(told) < 100, "junk is summed up"
        assert any(
            "more entries" in problem.message or "too many entries" in problem.message for problem in told
        )
    assert len(intake.ignored) < 100


def test_one_students_bombs_leave_the_room_of_the_class(tmp_path: Path) -> None:
    noise = random.Random(3).randbytes(40_000)
    limits = ArchiveLimits(total=600_000, top_level=250_000)
    files = {f"mal{m}/{n}.zip": packed({"a.py": noise}) for m in range(4) for n in range(3)}
    files |= {"zoe/hw.zip": packed({"softmax.py": GOOD.encode()})}
    (tmp_path / "in.zip").write_bytes(packed(files))
    (tmp_path / "work").mkdir()
    intake = collect(tmp_path / "in.zip", tmp_path / "work", items=["softmax"], limits=limits)
    assert "zoe" in {s.student for s in intake.students if s.files}
    assert not [p for p in intake.problems if p.student == "zoe"]
    assert any("by far the largest" in p.message and p.where.startswith("mal") for p in intake.problems)


def test_a_file_without_rights_says_so_and_the_class_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is root may read everything, so the refusal is the system's own error, raised here."""
    for name in ("ada/softmax.py", "bob/week.yaml", "zoe/softmax.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(GOOD if name.endswith(".py") else "quiz: x\n")
    real_open, real_os_open = Path.open, os.open

    def refused(path: object) -> bool:
        return str(path).endswith(("ada/softmax.py", "bob/week.yaml"))

    def open_path(self: Path, *args: Any, **options: Any) -> Any:
        if refused(self):
            raise PermissionError(13, "Permission denied", str(self))
        return real_open(self, *args, **options)

    def open_fd(path: Any, *args: Any, **options: Any) -> int:
        if refused(path):
            raise PermissionError(13, "Permission denied", str(path))
        return real_os_open(path, *args, **options)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(os, "open", open_fd)
    with tempfile.TemporaryDirectory() as work:
        found = collect(tmp_path, Path(work), items=["softmax"])
    assert {file.name for student in found.students for file in student.files} == {"zoe/softmax.py"}
    told = {problem.where: (problem.message, problem.next_step) for problem in found.problems}
    expected = ("the file can't be read: Permission denied", "check its permissions")
    assert told == {"ada/softmax.py": expected, "bob/week.yaml": expected}
