"""Archives of pages: the names that learning systems look for, safe everywhere, the same bytes each time."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.marks.class_table import ItemResult, StudentResults, TableColumn
from engine.model import GradeReport, Mode, Outcome
from engine.pages.zip import LAYOUTS, LeftOut, PageArchive, archive_name, write_zip

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)


def handed(filename: str, item: str = "softmax", quiz: str = "", day: int = 0) -> ItemResult:
    report = GradeReport(item, "v", Outcome.RIGHT, 1.0, 1.0, mode=Mode.MARKS)
    column = TableColumn(quiz or "~", 1 if quiz else 0, item)
    return ItemResult(column, report, "a" * 64, NOW, filename=filename, handed=NOW + timedelta(days=day))


def student(*items: ItemResult, id: str = "ada") -> StudentResults:  # noqa: A002
    return StudentResults(id, "Ada", items)


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        (
            "Ada Lovelace_12345_assignsubmission_file_/softmax.py",
            "Ada Lovelace_12345_assignsubmission_file_/feedback.html",
        ),
        # Moodle from 4.1 on writes no last underscore, and before 3.1 it wrote flat files
        ("Ada_7_assignsubmission_file/a/b.py", "Ada_7_assignsubmission_file_/feedback.html"),
        ("Ada_7_assignsubmission_file_soft_max.py", "Ada_7_assignsubmission_file_/feedback.html"),
        ("Émile Ö'Neil-7_8_assignsubmission_onlinetext_/a.yaml",
         "Émile Ö'Neil-7_8_assignsubmission_onlinetext_/feedback.html"),
        ("week 1/Participant_99_assignsubmission_file_/x.py",
         "Participant_99_assignsubmission_file_/feedback.html"),
        ('A:d"a\\..<b>_5_assignsubmission_file_/x.py', "A-d-a-..-b-_5_assignsubmission_file_/feedback.html"),
        ("..._5_assignsubmission_file_/x.py", "student_5_assignsubmission_file_/feedback.html"),
        ("ada/softmax.py", None),
        ("ada/hw/Bob_5_assignsubmission_file_/softmax.py", None),  # a student named this one
        ("Ada_x_assignsubmission_file_/softmax.py", None),
        ("", None),
    ],
)  # fmt: skip
def test_moodle_finds_the_participant(filename: str, name: str | None) -> None:
    assert archive_name("moodle", student(handed(filename))) == name


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("lovelaceada_123_456_softmax.py", "lovelaceada_123_456_softmax.html"),
        ("lovelaceada_LATE_123_456_soft_max-1.py", "lovelaceada_LATE_123_456_soft_max-1.html"),
        ("submissions/lovelaceada_123_456_week 1 (2).yaml", "lovelaceada_123_456_week 1 (2).html"),
        ("anon_k3x9Q_456_softmax.py", "anon_k3x9Q_456_softmax.html"),
        ("lovelaceada_123_456_work.zip/softmax.py", "lovelaceada_123_456_work.html"),
        ("team_red_lovelaceada_1_2_a.py", "team_red_lovelaceada_1_2_a.html"),
        ("ada_1_2_link.py", "ada_1_2_feedback.html"),  # Canvas would take it for a typed address
        ("ada_1_2_my_links.py", "ada_1_2_feedback.html"),
        ("ada_1_2_..\\..\\x.py", "ada_1_2_-..-x.html"),
        ("lovelaceada_123_text.html", None),  # nothing was uploaded that a page could be fixed to
        ("ada/softmax.py", None),
    ],
)
def test_canvas_finds_student_and_file(filename: str, name: str | None) -> None:
    assert archive_name("canvas", student(handed(filename))) == name


def read_by_canvas(name: str) -> list[str]:
    """Return the numbers of student and file as Canvas reads them from the name of an upload."""
    pieces = [piece for piece in PurePosixPath(name).name.split("_") if piece != "LATE"]
    if pieces[-1].startswith("link"):
        return []
    return pieces[1:3] if pieces[0] == "anon" else [p for p in pieces if re.fullmatch("[0-9]+", p)][:2]


@given(
    st.text(alphabet="ab_- é.\\:", min_size=1, max_size=12),
    st.integers(1, 10**6),
    st.integers(1, 10**6),
    st.text(alphabet="abkiln0_ .\\/", min_size=1, max_size=12),
)
def test_what_canvas_reads_from_a_name_is_what_it_wrote(own: str, user: int, file: int, rest: str) -> None:
    made = archive_name("canvas", student(handed(f"{own}_{user}_{file}_{rest}.py")))
    if made is not None:
        assert read_by_canvas(made) == [str(user), str(file)]


@given(st.sampled_from(sorted(LAYOUTS)), st.text(max_size=60), st.text(min_size=1, max_size=30))
def test_no_name_leads_out_of_its_folder(layout: str, filename: str, id: str) -> None:  # noqa: A002
    name = archive_name(layout, student(handed(filename), id=id))
    if name is not None:
        pieces = name.split("/")
        assert 1 <= len(pieces) <= 2 and name.endswith(".html")
        assert all(piece and piece.strip(" .") == piece for piece in pieces)
        assert not set('\\:*?"<>|\0\n') & set(name)


def test_the_newest_hand_in_names_the_page_or_that_of_an_assignment() -> None:
    everything = student(
        handed("Ada_1_assignsubmission_file_/softmax.py", day=1),
        handed("Ada_2_assignsubmission_file_/q.yaml", "weights", quiz="week-1", day=3),
        handed("Ada_3_assignsubmission_file_/sdpa.py", "sdpa", day=2),
    )
    assert archive_name("moodle", everything) == "Ada_2_assignsubmission_file_/feedback.html"
    assert archive_name("moodle", everything, "sdpa") == "Ada_3_assignsubmission_file_/feedback.html"
    assert archive_name("moodle", everything, "week-1") == "Ada_2_assignsubmission_file_/feedback.html"
    assert archive_name("moodle", everything, "week-2") is None


def test_plain_has_a_folder_for_everybody_whatever_they_are_called() -> None:
    names = [archive_name("plain", student(id=one)) for one in ("ada", "Ada", "../x", "con", "007")]
    assert names[0] == "ada/feedback.html" and names[4] == "007/feedback.html"
    assert len(set(names)) == 5 and not any(".." in name for name in names)


def packed(
    layout: str, everyone: Sequence[StudentResults], folder: Path, assignment: str | None = None
) -> PageArchive:
    pack = PageArchive(layout, assignment)
    for one in everyone:
        page = folder / f"{one.student}.html"
        page.write_text(f"page of {one.student}", encoding="utf-8")
        pack.add(one, page)
    return pack


def test_who_cant_be_packed_is_told_why(tmp_path: Path) -> None:
    everyone = [
        student(handed("Ada_1_assignsubmission_file_/softmax.py"), id="ada"),
        student(handed("Team_9_assignsubmission_file_/softmax.py"), id="bob"),
        student(handed("Team_9_assignsubmission_file_/softmax.py"), id="cem"),
        student(handed("dora/softmax.py"), id="dora"),
        student(id="eve"),
    ]
    pack = packed("moodle", everyone, tmp_path)
    assert [name for name, _ in pack.members] == ["Ada_1_assignsubmission_file_/feedback.html"]
    shared = "another student's hand-in has the same name: Team_9_assignsubmission_file_"
    assert pack.left_out == [
        LeftOut("bob", shared),
        LeftOut("cem", shared),
        LeftOut(
            "dora",
            "no hand-in in the store has a name as Moodle gives it: NAME_NUMBER_assignsubmission_file_",
        ),
        LeftOut("eve", "nothing was handed in"),
    ]
    assert {one.reason for one in packed("moodle", everyone, tmp_path, "week-1").left_out} == {
        "nothing was handed in"
    }


def test_the_same_pages_give_the_same_archive(tmp_path: Path) -> None:
    everyone = [student(id=one) for one in ("zoe", "ada")]
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    size = write_zip(first, packed("plain", everyone, tmp_path).members)
    for page in tmp_path.glob("*.html"):
        page.touch()
        page.chmod(0o600)
    write_zip(second, packed("plain", everyone[::-1], tmp_path).members)
    assert first.read_bytes() == second.read_bytes() and size == first.stat().st_size
    with zipfile.ZipFile(first) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["ada/feedback.html", "zoe/feedback.html"]
        assert archive.read("ada/feedback.html") == b"page of ada"
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_page_that_is_gone_leaves_the_old_archive(tmp_path: Path) -> None:
    path = tmp_path / "feedback.zip"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="gone"):
        write_zip(path, [("ada/feedback.html", tmp_path / "gone.html")])
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
