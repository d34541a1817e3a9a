"""Downloads as learning systems write them: whose is what, in which order, late or not."""

from __future__ import annotations

import io
import shutil
import zipfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from engine.course import Roster, Student
from engine.errors import IntakeError
from engine.hand_ins import IntakeResult
from engine.intake import collect
from engine.intake.download_entries import FileEntry, FoundEntries, ItemNames
from engine.intake.layouts import LAYOUTS, DownloadListing, choose

ITEMS = ("softmax", "scaled-dot-scores", "sdpa", "masked-softmax")
CODE = "def softmax(x):\n    return x\n"
ROSTER = Roster(
    (
        Student("007", "Emmy Nöther", "emmy@example.org", login="enoether", lms_id="4711"),
        Student("a-l", "Lovelace, Ada", "ada@example.org", login="ada-l", lms_id="4712"),
        Student("b1", "Bob Smith", "bob1@example.org", login="bobs"),
        Student("b2", "Bob Smith", "bob2@example.org", login="smithb"),
    )
)


def take(tmp_path: Path, files: dict[str, str], *, roster: Roster = ROSTER, **more: object) -> IntakeResult:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        for name, text in files.items():
            made.writestr(name, text)
    return collect(tmp_path / "in.zip", work, items=ITEMS, roster=roster, **more)  # type: ignore[arg-type]


def rows(intake: IntakeResult) -> dict[str, list[tuple[str | None, str, int]]]:
    return {s.student: [(file.item, file.name, file.sequence) for file in s.files] for s in intake.students}


def why(intake: IntakeResult) -> dict[str, str]:
    return {problem.where: problem.message for problem in intake.problems}


@pytest.mark.parametrize(
    ("name", "tops"),
    [
        ("canvas", ["lovelaceada_4712_1_softmax.py"]),
        ("canvas", ["lovelaceada_LATE_4712_1_hw.zip", "nother_emmy_4711_2_softmax-1.py"]),
        ("canvas", ["anon_k3x9q_12_softmax.py", "LATE_anon_a1b2c_13_softmax.py"]),
        ("canvas", ["lovelaceada_4712_text.html"]),
        ("moodle", ["Ada Lovelace_12345_assignsubmission_file_"]),
        ("moodle", ["Ada Lovelace_12345_assignsubmission_file"]),
        ("moodle", ["Participant_3_assignsubmission_onlinetext_"]),
        ("moodle", ["Group A_assignsubmission_file_"]),
        ("moodle", ["Ada Lovelace_12345_assignsubmission_file_softmax.py"]),
        ("gradescope", ["submission_metadata.yml", "submission_1"]),
        ("classroom", ["hw-1-ada-l", "hw-1-bobs"]),
        ("plain", ["ada", "bob"]),
        ("plain", ["student-1", "student-2"]),
        ("plain", ["ada_softmax.py", "bob_12_3_softmax.py", "eve_softmax.py"]),
        ("plain", ["ada_assignsubmission", "bob_assignment_file_"]),
        ("plain", []),
    ],
)
@pytest.mark.parametrize("around", [(), ("all",), ("download.zip", "all")])
def test_what_a_download_is_shows_by_its_names(
    tmp_path: Path, name: str, tops: list[str], around: tuple[str, ...]
) -> None:
    (tmp_path / "f").write_text("submission_1: {}\n", encoding="utf-8")
    parts = [(*around, top) if "." in top else (*around, top, "softmax.py") for top in tops]
    listing = DownloadListing(
        FoundEntries(files=[FileEntry(each, tmp_path / "f") for each in parts]), 0, ItemNames(ITEMS), ROSTER
    )
    layout = choose(listing, None, "here")
    assert layout.name == name
    assert layout.listing.depth == (len(around) if tops else 0)


def test_the_table_of_layouts_and_a_layout_that_doesnt_fit(tmp_path: Path) -> None:
    assert list(LAYOUTS) == ["gradescope", "moodle", "canvas", "classroom", "plain"]
    files = {"ada_softmax.py": CODE, "bob_softmax.py": CODE, "eve_1_2_softmax.py": CODE}
    assert set(rows(take(tmp_path, files, roster=Roster()))) == {"ada", "bob", "eve_1_2"}
    forced = take(tmp_path, files, roster=Roster(), layout="canvas")
    assert set(rows(forced)) == {"ada", "bob", "eve_1"}, "what doesn't fit is read as plain"
    for name in ("moodle", "gradescope", "classroom"):
        with pytest.raises(IntakeError, match=f"layout {name}") as told:
            take(tmp_path, files, layout=name)
        assert told.value.got == "ada_softmax.py, bob_softmax.py, eve_1_2_softmax.py"


# --- Canvas ---


def test_canvas(tmp_path: Path) -> None:
    files = {
        "lovelaceada_4712_901_softmax.py": CODE,
        "lovelaceada_LATE_4712_977_softmax-1.py": CODE + "# again\n",
        "lovelaceada_4712_902_scaled_dot_scores.py": CODE,
        "nother_emmy_4711_903_masked softmax (1).py": CODE,
        "nother_emmy_LATE_4711_904_notes.pdf": "%PDF",
        "smithbob_9999_905_softmax.py": CODE,
        "doejohn_8888_906_softmax.py": CODE,
        "lovelaceada_4712_text.html": "<p>",
    }
    intake = take(tmp_path, files)
    assert rows(intake) == {
        "007": [("masked-softmax", "nother_emmy_4711_903_masked softmax (1).py", 1)],
        "a-l": [
            ("softmax", "lovelaceada_4712_901_softmax.py", 0),
            ("softmax", "lovelaceada_LATE_4712_977_softmax-1.py", 1),
            ("scaled-dot-scores", "lovelaceada_4712_902_scaled_dot_scores.py", 0),
        ],
        "doejohn_8888": [("softmax", "doejohn_8888_906_softmax.py", 0)],
    }
    late = {file.name for student in intake.students for file in student.files if file.marked_late}
    assert late == {"lovelaceada_LATE_4712_977_softmax-1.py"}
    assert all(file.handed is None for student in intake.students for file in student.files)
    assert why(intake) == {
        "smithbob_9999": "this can be b1 or b2",
        "smithbob_9999_905_softmax.py": "it is unclear whose file this is",
        "doejohn_8888": "this student isn't in the roster; graded as doejohn_8888",
        "nother_emmy_LATE_4711_904_notes.pdf": "this kind of file isn't graded",
        "lovelaceada_4712_text.html": "this kind of file isn't graded",
    }
    assert {p.where for p in intake.problems if p.unjoined} == {"smithbob_9999", "doejohn_8888"}


def test_canvas_joins_by_its_number_before_anything_else(tmp_path: Path) -> None:
    roster = Roster((Student("4712", "Eve Adams", lms_id="1"), Student("x", "Ada Lovelace", lms_id="4712")))
    files = {"teamrocket_4712_5_softmax.py": CODE, "lovelaceada_4712_6_sdpa.py": CODE}
    assert set(rows(take(tmp_path, files, roster=roster))) == {"x"}, "another's id is the same number"
    crossed = take(tmp_path, {"adamseve_4712_5_softmax.py": CODE}, roster=roster)
    assert rows(crossed) == {}
    assert why(crossed)["adamseve_4712"] == "this means several people: lms_id means x, name means 4712"


def test_two_people_of_one_name_are_not_taken_for_one(tmp_path: Path) -> None:
    roster = Roster((Student("ada", "Ada Lovelace"),))
    for one, other in (
        ("lovelaceada_11_5_softmax.py", "lovelaceada_12_6_softmax.py"),
        ("Ada Lovelace_11_assignsubmission_file_/softmax.py", "Ada Lovelace_12_assignsubmission_file_/a.py"),
    ):
        intake = take(tmp_path, {one: CODE, other: CODE}, roster=roster)
        assert rows(intake) == {}
        assert sum("several people of this name" in problem.message for problem in intake.problems) == 2
        assert set(rows(take(tmp_path, {one: CODE}, roster=roster))) == {"ada"}


def test_the_files_of_one_hand_in_on_canvas_belong_together(tmp_path: Path) -> None:
    imports = "from helpers import e\n" + CODE
    files = {
        "lovelaceada_4712_1_softmax.py": imports,
        "lovelaceada_4712_2_helpers.py": "e = 1\n",
        "lovelaceada_4712_3_softmax-2.py": imports + "#\n",
        "lovelaceada_4712_4_helpers-1.py": "e = 2\n",
        "nothertemmy_4711_5_softmax.py": imports,
    }
    intake = take(tmp_path, files)
    beside = {
        file.name: [path.read_text("utf-8") for _, path in file.beside]
        for student in intake.students
        for file in student.files
    }
    assert beside == {
        "lovelaceada_4712_1_softmax.py": ["e = 1\n"],
        "lovelaceada_4712_3_softmax-2.py": ["e = 2\n"],
        "nothertemmy_4711_5_softmax.py": [],
    }
    assert not intake.problems
    assert [file.sequence for file in intake.students[1].files] == [0, 2]


def test_resubmissions_under_another_name_are_attempts_and_no_conflict(tmp_path: Path) -> None:
    files = {"lovelaceada_4712_8_solution-1.py": CODE + "#\n", "lovelaceada_4712_3_solution.py": CODE}
    for only in (None, "softmax"):
        intake = take(tmp_path, files, only_item=only)
        assert rows(intake) == {
            "a-l": [
                ("softmax", "lovelaceada_4712_3_solution.py", 0),
                ("softmax", "lovelaceada_4712_8_solution-1.py", 1),
            ]
        }


def test_an_archive_that_was_handed_in_on_canvas(tmp_path: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as made:
        made.writestr("hw/softmax.py", CODE)
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        made.writestr("lovelaceada_LATE_4712_8_hw.zip", inner.getvalue())
        made.writestr("nothertemmy_4711_9_hw.zip", b"")
    (tmp_path / "work").mkdir()
    intake = collect(tmp_path / "in.zip", tmp_path / "work", items=ITEMS, roster=ROSTER)
    assert rows(intake) == {
        "007": [],
        "a-l": [("softmax", "lovelaceada_LATE_4712_8_hw.zip/hw/softmax.py", 0)],
    }
    assert intake.students[1].files[0].marked_late
    (problem,) = intake.problems
    assert (problem.student, problem.message) == ("007", "this isn't a ZIP or tar archive")


# --- Moodle ---


def test_moodle(tmp_path: Path) -> None:
    files = {
        "Emmy No\u0308ther_31_assignsubmission_file_/softmax.py": CODE,
        "Emmy No\u0308ther_31_assignsubmission_file_/part 2/sdpa.py": CODE,
        "Emmy No\u0308ther_31_assignsubmission_onlinetext_/onlinetext.html": "<p>",
        "Ada Lovelace_32_assignsubmission_file/softmax.py": CODE,
        "Bob Smith_33_assignsubmission_file_/softmax.py": CODE,
        "Group A_5_assignsubmission_file_/softmax.py": CODE,
    }
    intake = take(tmp_path, files, refuse_unlisted=True)
    assert {student: [item for item, _, _ in files] for student, files in rows(intake).items()} == {
        "007": ["softmax", "sdpa"],
        "a-l": ["softmax"],
    }
    told = why(intake)
    assert told["Bob Smith_33"] == "this can be b1 or b2"
    assert told["Group A_5"] == "this student isn't in the roster"
    assert told["Emmy Nöther_31_assignsubmission_onlinetext_/onlinetext.html"] == (
        "this kind of file isn't graded"
    )
    assert len(told) == 5


def test_moodle_without_folders(tmp_path: Path) -> None:
    files = {
        "Ada Lovelace_32_assignsubmission_file_softmax.py": "import helpers\n" + CODE,
        "Ada Lovelace_32_assignsubmission_file_helpers.py": "",
        "Emmy Nöther_31_assignsubmission_file_sdpa.py": CODE,
    }
    intake = take(tmp_path, files)
    assert {student: [item for item, _, _ in files] for student, files in rows(intake).items()} == {
        "007": ["sdpa"],
        "a-l": ["softmax"],
    }
    assert [name for name, _ in intake.students[1].files[0].beside] == ["helpers"]
    assert not intake.problems


@pytest.mark.parametrize("word", ["Participant", "Teilnehmer-in"])
def test_moodle_with_hidden_names(tmp_path: Path, word: str) -> None:
    roster = Roster((Student(f"{word} 41"), Student("ada", "Ada")))
    files = {f"{word}_{n}_assignsubmission_file_/softmax.py": CODE + f"#{n}" for n in (41, 42)}
    intake = take(tmp_path, files, roster=roster)
    assert set(rows(intake)) == {f"{word} 41", f"{word} 42"}
    assert why(intake) == {
        f"{word} 42": f"this student isn't in the roster; graded as {word} 42",
    }


# --- Gradescope ---

METADATA = """\
---
submission_101:
  :submitters:
  - :name: Ada Lovelace
    :sid: a-l
    :email: ada@example.org
  :created_at: 2026-03-01 22:30:05.113384000 Z
  :score: 3.0
  :status: processed
  :results:
    tests:
    - score: 1
      output: !ruby/object:Evil {}
  :history:
  - :id: 90
    :created_at: 2026-02-27 10:00:00.000000000 Z
    :score: 1.0
  - :id: 95
    :created_at: 2026-02-28T11:00:00.5+02:00
    :score: 2.0
  - :id: 77
    :created_at: 2026-02-20 10:00:00 Z
submission_102:
  :submitters:
  - :name: Emmy Nother
    :sid: '007'
  - :name: Robert Smith
    :sid:
    :email: bob1@example.org
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &1 2026-03-02 08:00:00.000000000 Z
    zone: &2 !ruby/object:ActiveSupport::TimeZone
      name: Etc/UTC
    time: *1
submission_103:
  :submitters: []
  :created_at: 2026-03-02 08:00:00 UTC
submission_104:
  :submitters:
  - :name: Bob Smith
    :sid: b2
  :created_at: 2026-03-02 08:00:00
"""


def test_gradescope(tmp_path: Path) -> None:
    files = {
        "assignment_1_export/submission_metadata.yml": METADATA,
        "assignment_1_export/submission_101/softmax.py": CODE + "# third\n",
        "assignment_1_export/submission_90/softmax.py": CODE + "# first\n",
        "assignment_1_export/submission_95/src/softmax.py": CODE + "# second\n",
        "assignment_1_export/submission_102/softmax.py": CODE,
        "assignment_1_export/submission_103/softmax.py": CODE,
        "assignment_1_export/submission_104/softmax.py": CODE,
    }
    intake = take(tmp_path, files)
    assert {
        student: [name.split("/")[1] for _, name, _ in files] for student, files in rows(intake).items()
    } == {
        "007": ["submission_102"],
        "a-l": ["submission_90", "submission_95", "submission_101"],
        "b1": ["submission_102"],
        "b2": ["submission_104"],
        "submission_103": ["submission_103"],
    }
    handed = {file.name.split("/")[1]: file.handed for student in intake.students for file in student.files}
    assert handed == {
        "submission_90": datetime(2026, 2, 27, 10, tzinfo=UTC),
        "submission_95": datetime(2026, 2, 28, 11, 0, 0, 500_000, timezone(timedelta(hours=2))),
        "submission_101": datetime(2026, 3, 1, 22, 30, 5, 113_384, UTC),
        "submission_102": datetime(2026, 3, 2, 8, tzinfo=UTC),
        "submission_103": None,
        "submission_104": None,
    }
    assert [file.sequence for file in intake.students[1].files] == [0, 1, 2]
    listed = "assignment_1_export/submission_metadata.yml"
    assert why(intake) == {
        f"{listed}: submission_103": "the list names nobody who handed it in",
        f"{listed}: submission_104": "when it was handed in names no time zone: 2026-03-02 08:00:00",
        "submission_103": "this student isn't in the roster; graded as submission_103",
    }
    assert intake.ignored == (listed,)


def test_gradescope_where_sid_and_name_contradict_each_other(tmp_path: Path) -> None:
    metadata = "submission_1:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '007'\n"
    files = {"submission_metadata.yml": metadata, "submission_1/softmax.py": CODE}
    intake = take(tmp_path, files)
    assert rows(intake) == {}
    assert why(intake)["007"] == "this means several people: id means 007, name means a-l"


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("submission_1:\n  :submitters: [\n", "submission_metadata.yml:3", "this list can't be read: "),
        ("- a\n- b\n", "submission_metadata.yml:1", "this isn't a list of submissions"),
        ("a: " + "[" * 40 + "]" * 40, "submission_metadata.yml:1", "this list is nested too deeply"),
        ("", "submission_metadata.yml:1", "the file is empty"),
        ("submission_1: 5\n", "submission_metadata.yml: submission_1", "the list says nothing about it"),
        ("submission_1: &a [*a, *a]\n", "submission_metadata.yml: submission_1", "the list says nothing"),
    ],
)
def test_a_gradescope_list_that_cant_be_read_is_told_and_nothing_lost(
    tmp_path: Path, text: str, where: str, what: str
) -> None:
    intake = take(tmp_path, {"submission_metadata.yml": text, "submission_1/softmax.py": CODE})
    assert set(rows(intake)) == {"submission_1"}
    (message,) = [p.message for p in intake.problems if p.where.endswith(where)]
    assert message.startswith(what)


# --- Classroom ---


def test_classroom(tmp_path: Path) -> None:
    template = {"README.md": "#", "tests/test_softmax.py": "import softmax\n", "environment.yml": "name: x\n"}
    own = {"hw-1-ada-l": "softmax.py", "hw-1-bobs": "src/sdpa.py", "hw-1-nobody": "softmax.py"}
    files = {f"subs/{repo}/{name}": CODE for repo, name in own.items()}
    files |= {f"subs/{repo}/{name}": text for repo in own for name, text in template.items()}
    files |= {f"subs/{repo}/.git/config": "x" for repo in own}
    files["subs/hw-1-ada-l/notes.txt"] = "mine"
    intake = take(tmp_path, files)
    assert rows(intake) == {
        "a-l": [("softmax", "subs/hw-1-ada-l/softmax.py", 0)],
        "b1": [("sdpa", "subs/hw-1-bobs/src/sdpa.py", 0)],
        "nobody": [("softmax", "subs/hw-1-nobody/softmax.py", 0)],
    }
    assert why(intake) == {
        "subs/hw-1-ada-l/notes.txt": "this kind of file isn't graded",
        "nobody": "this student isn't in the roster; graded as nobody",
    }
    assert len(intake.ignored) == 3 * len(template) + 3


@pytest.mark.parametrize(
    ("repos", "students"),
    [
        (["hw-1-ada-l-main", "hw-1-bobs-main"], {"a-l", "b1"}),
        (["hw-1-ada-l"], {"a-l"}),
        (["softmax-a-x", "softmax-a-y"], {"p", "q"}),
        (["hw-one", "other"], {"hw-one", "other"}),
        (["stud-1", "stud-2"], {"stud-1", "stud-2"}),
    ],
)
def test_the_login_is_what_follows_the_assignments_name(
    tmp_path: Path, repos: list[str], students: set[str]
) -> None:
    more = (Student("p", login="a-x"), Student("q", login="a-y"), Student("stud-1"), Student("stud-2"))
    files = {f"{repo}/{name}": CODE for repo in repos for name in ("softmax.py", ".git/HEAD")}
    intake = take(tmp_path, files, roster=Roster((*ROSTER.students, *more)))
    assert set(rows(intake)) == students


# --- plain ---


@pytest.mark.parametrize("name", ["submission_1/softmax.py", "smithbob_12_1_softmax.py", "b1_softmax.py"])
def test_nobody_hands_in_for_others_from_their_own_folder(tmp_path: Path, name: str) -> None:
    metadata = "submission_1:\n  :submitters:\n  - :sid: b1\n"
    files = {f"ada-l/{name}": CODE}
    if name.startswith("submission"):
        files["ada-l/submission_metadata.yml"] = metadata
    assert set(rows(take(tmp_path, files))) == {"a-l"}


def test_archives_and_copies_in_a_plain_folder(tmp_path: Path) -> None:
    root = tmp_path / "in"
    root.mkdir()
    for name in ("ada-l.zip", "bobs_softmax.tar.gz"):
        made_of = tmp_path / name.split(".")[0]
        made_of.mkdir()
        (made_of / "softmax.py").write_text(CODE, encoding="utf-8")
        shutil.make_archive(str(root / name.split(".")[0]), "zip" if "zip" in name else "gztar", made_of)
    (root / "enoether").mkdir()
    for name in ("softmax (2).py", "softmax.py", "softmax (1).py"):
        (root / "enoether" / name).write_text(CODE + "#" + name, encoding="utf-8")
    (tmp_path / "work").mkdir()
    intake = collect(root, tmp_path / "work", items=ITEMS, roster=ROSTER)
    assert rows(intake) == {
        "007": [
            ("softmax", "enoether/softmax.py", 0),
            ("softmax", "enoether/softmax (1).py", 1),
            ("softmax", "enoether/softmax (2).py", 2),
        ],
        "a-l": [("softmax", "ada-l.zip/softmax.py", 0)],
        "b1": [("softmax", "bobs_softmax.tar.gz/softmax.py", 0)],
    }
    assert not intake.problems
