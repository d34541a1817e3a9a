"""Whatever is handed in, each entry is graded, told or ignored: once, and never lost."""

from __future__ import annotations

import io
import tarfile
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.course import Roster, Student
from engine.errors import IntakeError
from engine.hand_ins import IntakeResult
from engine.intake import collect
from engine.text.words import clean_line

pytestmark = pytest.mark.slow

ITEMS = ("softmax", "sdpa")
ROSTER = Roster((Student("ada", "Ada Lovelace", login="ada-l", lms_id="11"), Student("bob", "Bob Smith")))

TOPS = [
    *("ada", "bob", "Bob Smith", "stranger", "hw-1-ada-l", "hw-1-zoe", "__MACOSX", ".git", "..", "x" * 120),
    *("Ada Lovelace_31_assignsubmission_file_", "Zoe_32_assignsubmission_onlinetext_", "submission_1"),
    *("lovelaceada_11_5_softmax.py", "smithbob_LATE_12_6_softmax-1.py", "ada_softmax.py", "softmax_bob.py"),
    *("quiz.yaml", "submission_metadata.yml", "answers.csv", "notes.txt", "zoe_13_7_text.html", "C:"),
]
NAMES = [
    *("softmax.py", "softmax (1).py", "Softmax.py", "sdpa.ipynb", "helpers.py", "helpers-1.py", "sofmax.py"),
    *("mine.py", "quiz.yaml", "notes.pdf", "hw.rar", ".DS_Store", "answers.xlsx", "NUL", "a\x1bb.py", "é.py"),
]
CONTENTS = [
    "",
    "def softmax(x): pass\n",
    "import helpers\ndef softmax(x): pass\ndef sdpa(x): pass\n",
    "quiz: q1\nstudent: ada\n",
    "quiz: q1\n",
    "submission_1:\n  :submitters:\n  - :sid: ada\n  - :name: Nobody\n",
    "\0",
]
FOLDERS = [*TOPS[:13], "week 1"]
files = st.dictionaries(
    st.builds(
        "/".join,
        st.one_of(
            st.tuples(st.sampled_from(TOPS)),
            st.tuples(st.sampled_from(TOPS[:14]), st.sampled_from(NAMES)),
            st.tuples(st.sampled_from(FOLDERS), st.sampled_from(FOLDERS), st.sampled_from(NAMES)),
        ),
    ),
    st.sampled_from(CONTENTS).map(str.encode),
    max_size=8,
)


def zipped(content: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, text in content.items():
            made.writestr(zipfile.ZipInfo(name), text)
    return data.getvalue()


def tarred(content: dict[str, bytes]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as made:
        for name, text in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            made.addfile(info, io.BytesIO(text))
    return data.getvalue()


def lay(root: Path, content: dict[str, bytes]) -> dict[str, bytes]:
    """Write files below `root`; return those that a file system can hold there."""
    root.mkdir(exist_ok=True)
    laid = {}
    for name, text in content.items():
        path = root / name
        try:
            if ".." in path.parts:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_bytes(text)
                laid[name] = text
        except (FileExistsError, NotADirectoryError):  # a folder of a file's name
            pass
    return laid


def plain(name: str) -> str:
    """Return an entry's name as it is listed, or as an entry at fault is."""
    return clean_line("/".join(part for part in name.split("/") if part != "."), 300)


def _junk_at(name: str) -> int | None:
    parts = name.split("/")
    return next((at + 1 for at, part in enumerate(parts) if part in {"__MACOSX", ".git", ".DS_Store"}), None)


def accounted(intake: IntakeResult) -> tuple[set[str], Counter[str], set[str]]:
    """Return the names of graded files, of problems about files, and of what was ignored."""
    graded = {file.name for student in intake.students for file in student.files}
    told = Counter(p.where for p in intake.problems if not p.unjoined)
    return graded | {table.name for table in intake.tables}, told, set(intake.ignored)


def check(intake: IntakeResult, names: set[str], work: Path) -> None:
    graded, told, ignored = accounted(intake)
    paths = {file.path for student in intake.students for file in student.files}
    beside = {path for s in intake.students for file in s.files for _, path in file.beside} - paths
    lost = {name for name in names if name not in graded and name not in told and name not in ignored}
    assert len(lost) <= len(beside), f"only what another file imports isn't named: {lost}"
    assert not graded & ignored
    assert not set(told) & ignored
    twice = {p.where for p in intake.problems if p.where in graded and "several files" not in p.message}
    assert all("two files define" in p.message for p in intake.problems if p.where in twice)
    assert all(path.is_relative_to(work) for path in paths | beside)


@settings(max_examples=120)
@given(outer=files, inner=files, at=st.sampled_from(TOPS[:14]), pack=st.sampled_from([zipped, tarred]))
@pytest.mark.parametrize("roster", [Roster(), ROSTER], ids=["no roster", "roster"])
@pytest.mark.parametrize("refuse", [True, False])
def test_every_entry_is_graded_told_or_ignored(
    roster: Roster, refuse: bool, outer: dict[str, bytes], inner: dict[str, bytes], at: str, pack: object
) -> None:
    content = outer | ({f"{at}/hw.zip": zipped(inner)} if inner else {})
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        source = Path(folder, "in")
        source.write_bytes(pack(content))  # type: ignore[operator]
        try:
            intake = collect(source, work, items=ITEMS, roster=roster, refuse_unlisted=refuse)
        except IntakeError as error:
            assert "nothing was handed in" in error.what
            return
        names = {plain(name) for name in outer} | {plain(f"{at}/hw.zip/{name}") for name in inner}
        junk_above = at in {"__MACOSX", ".git"} or at in {"..", "C:"}
        if inner and junk_above:
            names = {plain(name) for name in outer} | {f"{at}/hw.zip"}
        check(intake, names, work)
        assert {path.name for path in Path(folder).iterdir()} == {"work", "in"}


@settings(max_examples=80)
@given(outer=files, inner=files, at=st.sampled_from(["ada", "stranger", "hw-1-zoe"]))
def test_every_file_of_a_folder_is_graded_told_or_ignored(
    outer: dict[str, bytes], inner: dict[str, bytes], at: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work, source = Path(folder, "work"), Path(folder, "in")
        work.mkdir()
        laid = lay(source, outer)
        packed = lay(source, {f"{at}/hw.zip": zipped(inner)})
        before = sorted(source.rglob("*"))
        try:
            intake = collect(source, work, items=ITEMS, roster=ROSTER)
        except IntakeError as error:
            assert "nothing was handed in" in error.what
            return
        # A folder that systems leave behind isn't looked into.
        names = {plain("/".join(name.split("/")[: _junk_at(name)])) for name in laid}
        names |= {plain(f"{at}/hw.zip/{name}") for name in inner if packed}
        check(intake, names, Path(folder))
        assert sorted(source.rglob("*")) == before
