"""A folder or archive of a class: every entry is a file to grade, a problem, or an ignored leftover."""

from __future__ import annotations

import os
import stat
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.course import Roster, Student
from engine.errors import IntakeError
from engine.hand_ins import FileKind, IntakeResult
from engine.intake import collect
from engine.intake.download_entries import ItemNames, quiz_head
from engine.intake.unpack import ArchiveLimits

ITEMS = ("softmax", "scaled-dot-scores", "sdpa", "masked-softmax")
CODE = b"def softmax(x):\n    return x\n"
QUIZ = "# A quiz\nquiz: abc123\ntitle: T\nstudent: '007'\nquestions: []\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def tree(root: Path, files: dict[str, bytes | str]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return root


def archive(path: Path, files: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return path


def shown(intake: IntakeResult) -> dict[str, list[tuple[str | None, str]]]:
    return {s.student: [(file.item, file.name) for file in s.files] for s in intake.students}


def why(intake: IntakeResult) -> dict[str, str]:
    return {problem.where: problem.message for problem in intake.problems}


FILES = {
    "ada/softmax.py": CODE,
    "ada/Scaled_Dot_Scores (1).ipynb": "{}",
    "ada/quiz-l16-ada.yaml": QUIZ,
    "bob/week 1/softmax.py": CODE + b"# bob\n",
    "bob/.DS_Store": b"x",
    "__MACOSX/ada/._softmax.py": b"x",
}


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_one_folder_per_student(tmp_path: Path, work: Path, kind: str) -> None:
    path = tree(tmp_path / "in", FILES) if kind == "folder" else archive(tmp_path / "in.zip", FILES)
    intake = collect(path, work, items=ITEMS)
    assert {k: sorted(v, key=lambda pair: pair[1].casefold()) for k, v in shown(intake).items()} == {
        "ada": [
            (None, "ada/quiz-l16-ada.yaml"),
            ("scaled-dot-scores", "ada/Scaled_Dot_Scores (1).ipynb"),
            ("softmax", "ada/softmax.py"),
        ],
        "bob": [("softmax", "bob/week 1/softmax.py")],
    }
    assert intake.problems == ()
    leftover = "__MACOSX" if kind == "folder" else "__MACOSX/ada/._softmax.py"
    assert set(intake.ignored) == {"bob/.DS_Store", leftover}
    assert {file.kind for file in intake.students[0].files} == {FileKind.CODE, FileKind.QUIZ}
    hashes = {file.name: file.sha256 for student in intake.students for file in student.files}
    assert hashes["ada/softmax.py"] != hashes["bob/week 1/softmax.py"]
    for student in intake.students:
        for file in student.files:
            assert file.path.read_bytes()


def test_one_file_per_student(tmp_path: Path, work: Path) -> None:
    files = {
        "ada_softmax.py": CODE,
        "bob-masked-softmax.py": CODE,
        "eve_123_456_softmax-1.py": CODE,
        "sdpa_kurt.py": CODE,
        "q.yaml": QUIZ,
        "softmax.py": CODE,
        "notes.yaml": "a: 1\n",
    }
    intake = collect(tree(tmp_path / "in", files), work, items=ITEMS)
    assert {s: [item for item, _ in f] for s, f in shown(intake).items()} == {
        "007": [None],
        "ada": ["softmax"],
        "bob": ["masked-softmax"],
        "eve_123_456": ["softmax"],
        "kurt": ["sdpa"],
    }
    assert why(intake) == {
        "softmax.py": "it is unclear whose file this is",
        "notes.yaml": "this isn't a filled-in quiz",
    }


def test_one_exercise_for_all(tmp_path: Path, work: Path) -> None:
    files = {"ada.py": CODE, "bob/solution.py": CODE, "kurt/softmax.py": CODE}
    intake = collect(tree(tmp_path / "in", files), work, items=ITEMS, only_item="sdpa")
    assert {s: f[0][0] for s, f in shown(intake).items()} == {"ada": "sdpa", "bob": "sdpa", "kurt": "softmax"}


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_folder_around_everything_is_looked_through(tmp_path: Path, work: Path, kind: str) -> None:
    files = {"hand-ins/ada/softmax.py": CODE, "hand-ins/bob/sdpa.py": CODE}
    path = tree(tmp_path / "in", files) if kind == "folder" else archive(tmp_path / "in.zip", files)
    assert set(shown(collect(path, work, items=ITEMS))) == {"ada", "bob"}
    flat = {"hand-ins/ada_softmax.py": CODE, "hand-ins/bob_sdpa.py": CODE}
    assert set(shown(collect(tree(tmp_path / "flat", flat), work, items=ITEMS))) == {"ada", "bob"}


def test_a_single_student_is_no_wrapper(tmp_path: Path, work: Path) -> None:
    intake = collect(
        tree(tmp_path / "in", {"ada/softmax.py": CODE, "ada/sub/sdpa.py": CODE}), work, items=ITEMS
    )
    assert set(shown(intake)) == {"ada"}
    roster = Roster((Student("ada"),))
    only = tree(tmp_path / "in2", {"ada/sub/sdpa.py": CODE})
    assert set(shown(collect(only, work, items=ITEMS, roster=roster))) == {"ada"}


# --- what isn't graded is listed ---


def test_unknown_files_are_listed_with_the_nearest_name(tmp_path: Path, work: Path) -> None:
    files = {
        "ada/sofmax.py": "def sofmax(x): return x\n",
        "ada/zzzz.py": "x = 1\n",
        "ada/report.pdf": b"%PDF",
        "ada/softmax.py.txt": CODE,
        "ada/more.zip": b"PK",
        "ada/more.rar": b"Rar!",
        "ada/conf.yaml": "x: 1\n",
        "ada/latin.yaml": "quiz: é\n".encode("cp1252"),
        "bob/.keep": b"",
    }
    intake = collect(tree(tmp_path / "in", files), work, items=ITEMS)
    assert shown(intake) == {"ada": [], "bob": []}
    assert why(intake) == {
        "ada/sofmax.py": "there is no code exercise of this name",
        "ada/zzzz.py": "there is no code exercise of this name",
        "ada/report.pdf": "this kind of file isn't graded",
        "ada/softmax.py.txt": "this kind of file isn't graded",
        "ada/more.zip": "this isn't a ZIP or tar archive",
        "ada/more.rar": "this kind of archive is not opened",
        "ada/conf.yaml": "this isn't a filled-in quiz",
        "ada/latin.yaml": "the file isn't valid UTF-8",
        "bob": "this folder holds no file",
    }
    steps = {problem.where: problem.next_step for problem in intake.problems}
    assert steps["ada/softmax.py.txt"] == "if it is softmax.py, name it so and hand it in again"
    assert steps["ada/sofmax.py"] == "did you mean softmax?"
    assert all(problem.student in {"ada", "bob"} for problem in intake.problems)


def test_nothing_at_all_is_an_error(tmp_path: Path, work: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(IntakeError, match="nothing was handed in"):
        collect(tmp_path / "empty", work, items=ITEMS)
    with pytest.raises(IntakeError, match="no such folder"):
        collect(tmp_path / "none", work, items=ITEMS)


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_links_and_pipes_in_a_folder_are_not_followed(tmp_path: Path, work: Path) -> None:
    secret = tree(tmp_path / "outside", {"softmax.py": b"secret\n"})
    root = tree(tmp_path / "in", {"ada/sdpa.py": CODE})
    (root / "ada" / "softmax.py").symlink_to(secret / "softmax.py")
    (root / "ada" / "loop").symlink_to(root)
    (root / "bob").symlink_to(secret, target_is_directory=True)
    os.mkfifo(root / "ada" / "pipe.py")
    (root / "ada" / "a\x1b[0m.py").write_bytes(CODE)
    intake = collect(root, work, items=ITEMS)
    assert shown(intake) == {"ada": [("sdpa", "ada/sdpa.py")]}
    assert sorted(why(intake).values()) == [
        "this entry has control characters in its name",
        "this is a link; links are not followed",
        "this is a link; links are not followed",
        "this is a link; links are not followed",
        "this isn't a regular file",
    ]
    assert not any("\x1b" in problem.where for problem in intake.problems)


# --- archives ---


def entry(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("../softmax.py", "leads out of the archive"),
        ("ada/../../softmax.py", "leads out of the archive"),
        ("/etc/cron.d/softmax.py", "an absolute path"),
        ("C:/softmax.py", "an absolute path"),
        ("c:softmax.py", "an absolute path"),
        ("ada\\..\\softmax.py", "leads out of the archive"),
        ("ada\\..\\..\\softmax.py", "leads out of the archive"),
        ("C:\\ada\\softmax.py", "an absolute path"),
        ("\\\\server\\share\\softmax.py", "an absolute path"),
        ("//server/share/softmax.py", "an absolute path"),
        ("ada/soft\x1b[31mmax.py", "control characters"),
        ("ada/" + "x" * 1200 + "/softmax.py", "too long a name"),
    ],
)
def test_names_that_lead_elsewhere_are_listed_and_nothing_is_written(
    tmp_path: Path, work: Path, name: str, fault: str
) -> None:
    path = archive(tmp_path / "in.zip", {name: CODE, "ada/sdpa.py": CODE})
    before = sorted(tmp_path.rglob("*"))
    intake = collect(path, work, items=ITEMS)
    assert [fault in problem.message for problem in intake.problems] == [True]
    assert shown(intake) == {"ada": [("sdpa", "ada/sdpa.py")]}
    written = [p for p in sorted(tmp_path.rglob("*")) if p not in before]
    assert [p.parent for p in written] == [work]


def test_links_and_devices_in_an_archive_are_listed(tmp_path: Path, work: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        made.writestr(entry("ada/softmax.py", stat.S_IFLNK | 0o777), "/etc/passwd")
        made.writestr(entry("ada/sdpa.py", stat.S_IFIFO | 0o644), "")
        made.writestr(entry("bob/softmax.py"), CODE)
    intake = collect(tmp_path / "in.zip", work, items=ITEMS)
    assert shown(intake) == {"bob": [("softmax", "bob/softmax.py")]}
    assert why(intake) == {
        "ada/softmax.py": "this entry is a link; it was not unpacked",
        "ada/sdpa.py": "this entry isn't a regular file; it was not unpacked",
    }


def test_a_bomb_takes_nobody_elses_place(tmp_path: Path, work: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("eve/softmax.py", b"\0" * (8 * 2**20))
        made.writestr("mal/softmax.py", os.urandom(2**16) * 2**5)  # 2 MiB, ratio small
        for number in range(40):
            made.writestr(f"mal/{number}/sdpa.py", os.urandom(2**12) * 2**5)
        made.writestr("zoe/softmax.py", CODE)
    limits = ArchiveLimits(entry=2**20, top_level=2**20)
    intake = collect(tmp_path / "in.zip", work, items=ITEMS, limits=limits)
    messages = why(intake)
    assert "unpacks to more than 1 MiB" in messages["eve/softmax.py"]
    # of many problems alike the first ones are listed, and how many more there are
    assert any("over 1 MiB" in said for where, said in messages.items() if where.startswith("mal/"))
    assert "more entries like these" in messages["mal"]
    assert ("softmax", "zoe/softmax.py") in shown(intake)["zoe"]
    assert sum(p.stat().st_size for p in work.iterdir()) < 2 * 2**20
    strict = collect(tmp_path / "in.zip", work, items=ITEMS)
    assert "200 times its size" in why(strict)["eve/softmax.py"]


def test_a_lying_size_in_the_directory_is_noticed(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {"ada/softmax.py": b"\0" * 100_000, "bob/softmax.py": CODE})
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(data)
    intake = collect(path, work, items=ITEMS)
    assert "damaged" in why(intake)["ada/softmax.py"]
    assert set(shown(intake)) == {"bob"}


def test_too_many_entries(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {f"a/{n}.txt": b"" for n in range(30)})
    with pytest.raises(IntakeError, match="too many entries"):
        collect(path, work, items=ITEMS, limits=ArchiveLimits(download_entries=20))


def test_entries_that_share_their_data_are_listed(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {"ada/softmax.py": CODE, "bob/softmax.py": CODE})
    data = bytearray(path.read_bytes())
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[second + 42 : second + 46] = struct.pack("<I", 0)
    path.write_bytes(data)
    messages = why(collect(path, work, items=ITEMS))
    assert any("shares its data" in message for message in messages.values())


def test_encrypted_and_unusual_entries_are_listed(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {"ada/softmax.py": CODE, "bob/softmax.py": CODE})
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\x01\x02")
    data[first + 8] |= 1
    second = data.index(b"PK\x01\x02", first + 4)
    data[second + 10 : second + 12] = struct.pack("<H", 14)
    path.write_bytes(data)
    messages = why(collect(path, work, items=ITEMS))
    assert "is encrypted" in messages["ada/softmax.py"]
    assert "unusual method" in messages["bob/softmax.py"]


def test_a_bad_checksum_costs_only_its_entry(tmp_path: Path, work: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        made.writestr("ada/softmax.py", CODE)
        made.writestr("bob/softmax.py", CODE)
    data = (tmp_path / "in.zip").read_bytes()
    (tmp_path / "in.zip").write_bytes(data.replace(b"return x", b"return y", 1))
    intake = collect(tmp_path / "in.zip", work, items=ITEMS)
    assert "damaged" in why(intake)["ada/softmax.py"]
    assert set(shown(intake)) == {"bob"}
    assert len(list(work.iterdir())) == 1


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "isn't a ZIP or tar archive"),
        (b"text", "isn't a ZIP or tar archive"),
        (b"PK\x03\x04 not really", "the archive is damaged"),
        (b"\x1f\x8b not really", "the archive is damaged"),
    ],
)
def test_what_is_no_archive_is_an_error(tmp_path: Path, work: Path, data: bytes, what: str) -> None:
    (tmp_path / "in.zip").write_bytes(data)
    with pytest.raises(IntakeError, match=what):
        collect(tmp_path / "in.zip", work, items=ITEMS)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_several_files_of_one_name_are_all_graded_and_listed(tmp_path: Path, work: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.zip", "w") as made:
        made.writestr("ada/softmax.py", CODE)
        made.writestr("ada/softmax.py", CODE + b"# other\n")
    intake = collect(tmp_path / "in.zip", work, items=ITEMS)
    (ada,) = intake.students
    assert len({file.sha256 for file in ada.files}) == 2
    assert why(intake) == {"ada/softmax.py": "the archive holds several files of this name"}


def test_names_from_macos_and_from_elsewhere_are_one_student(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {"Go\u0308del/softmax.py": CODE, "G\u00f6del/sdpa.py": CODE})
    assert set(shown(collect(path, work, items=ITEMS))) == {"G\u00f6del"}


def test_utf8_names_without_the_flag_are_read(tmp_path: Path, work: Path) -> None:
    path = archive(tmp_path / "in.zip", {"Gxxdel/softmax.py": CODE})
    path.write_bytes(path.read_bytes().replace(b"Gxxdel", "Gödel".encode()))
    assert set(shown(collect(path, work, items=ITEMS))) == {"Gödel"}
    path.write_bytes(path.read_bytes().replace("Gödel".encode(), b"G\xe4\x94del"))
    (student,) = shown(collect(path, work, items=ITEMS))
    assert student.startswith("G") and student.endswith("del")


def test_every_entry_is_accounted_for(tmp_path: Path, work: Path) -> None:
    names = [*FILES, "ada/x.txt", "../evil.py", "eve/y.zip", "softmax.py"]
    path = archive(tmp_path / "in.zip", dict.fromkeys(names, QUIZ))
    intake = collect(path, work, items=ITEMS)
    seen = {file.name for student in intake.students for file in student.files}
    seen |= {problem.where for problem in intake.problems} | set(intake.ignored)
    assert seen == set(names)


@settings(max_examples=200)
@given(st.data())
def test_a_broken_archive_gives_lists_or_one_error_and_writes_nowhere_else(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "work").mkdir()
        path = archive(
            root / "in.zip", {"ada/softmax.py": CODE, "bob/sdpa.ipynb": b"{}" * 50, "x/q.yaml": QUIZ}
        )
        broken = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(
            broken[: data.draw(st.integers(0, len(broken)))] if data.draw(st.booleans()) else broken
        )
        try:
            intake = collect(path, root / "work", items=ITEMS)
        except IntakeError:
            pass
        else:
            assert all(file.path.parent == root / "work" for s in intake.students for file in s.files)
        assert {p.name for p in root.iterdir()} == {"in.zip", "work"}


# --- names ---


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("softmax.py", "softmax"),
        ("Softmax.PY", "softmax"),
        ("softmax (1).py", "softmax"),
        ("softmax-1.py", "softmax"),
        ("softmax - Copy (2).py", "softmax"),
        ("scaled_dot_scores.ipynb", "scaled-dot-scores"),
        ("scaled dot scores_2.py", "scaled-dot-scores"),
        ("ｓｄｐａ.py", "sdpa"),
        ("my_softmax.py", None),
        ("softmax.txt.py", None),
        (".py", None),
    ],
)
def test_item_names(name: str, item: str | None) -> None:
    assert ItemNames(ITEMS).find(name) == item


def test_of_two_items_the_longer_counts() -> None:
    names = ItemNames(ITEMS)
    assert names.split("ada_masked_softmax.py") == ("ada", "masked-softmax")
    assert names.split("masked_softmax_ada.py") == ("ada", "masked-softmax")
    assert names.split("softmax.py") is None
    assert names.nearest("sftmx.py") == "softmax"
    assert names.nearest("qqqqq.py") is None


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("quiz: abc\nstudent: ada\n", ("abc", "ada")),
        ("quiz: 'abc' # x\nstudent: \"007\"\n", ("abc", "007")),
        ("a: 1\n  quiz: no\n", (None, None)),
        ("quiz:\n", (None, None)),
        ("quiz: a\nquiz: b\n", ("a", None)),
    ],
)
def test_the_head_of_a_quiz_file(text: str, head: tuple[str | None, str | None]) -> None:
    assert quiz_head(text) == head


# --- the roster ---

ROSTER = Roster(
    (
        Student("007", "Emmy Noether", "emmy@example.org"),
        Student("ada", "Lovelace, Ada", "ada@example.org"),
        Student("b1", "Bob Smith"),
        Student("b2", "Bob Smith"),
    )
)


def test_folder_names_are_matched_to_the_roster(tmp_path: Path, work: Path) -> None:
    labels = {
        "007": "007",
        "Ada Lovelace_12345_assignsubmission_file_": "ada",
        "emmy@example.org": "007",
        "b1_2026": "b1",
        "stranger": "stranger",
    }
    files = {f"{label}/softmax.py": CODE for label in labels} | {"Bob Smith/softmax.py": CODE}
    path = tree(tmp_path / "in", files)
    intake = collect(path, work, items=ITEMS, roster=ROSTER)
    assert set(shown(intake)) == set(labels.values())
    assert why(intake)["Bob Smith"] == "this can be b1 or b2"
    strict = collect(path, work, items=ITEMS, roster=ROSTER, refuse_unlisted=True)
    assert "stranger" not in shown(strict)
    assert why(strict)["stranger"] == "this student isn't in the roster"
    assert why(strict)["stranger/softmax.py"] == "it is unclear whose file this is"


def test_a_name_that_cant_be_an_id(tmp_path: Path, work: Path) -> None:
    intake = collect(tree(tmp_path / "in", {"x" * 150 + "/softmax.py": CODE}), work, items=ITEMS)
    assert shown(intake) == {}
    assert "can't be a student's id" in "".join(why(intake).values())
