"""A course folder: made once, never overwritten, its secret kept."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.commands.context import course_folder_above, find_context
from engine.commands.course.check import missing_package_warnings
from engine.course import Course, Roster, Student, read_roster
from engine.errors import CourseError, InputError, SpecError
from engine.store import Store


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_a_new_course_has_all_its_parts(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", 'Deep: "Learning" # 2026\n- x')
    assert course.title == 'Deep: "Learning" # 2026\n- x'
    assert course.mode == "marks"
    assert course.roster() == Roster() and course.roster_ids() == []
    assert course.problems.is_dir() and course.blueprints.is_dir() and course.quizzes.is_dir()
    assert len(course.secret()) == 32
    assert ".softmark/" in (course.folder / ".gitignore").read_text()
    with course.open_store() as store:
        assert isinstance(store, Store)
        assert store.where == str(course.folder / ".softmark" / "store.db")


@pytest.mark.skipif(os.name != "posix", reason="POSIX rights")
def test_the_secret_is_for_its_owner_alone(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    path = course.folder / ".softmark" / "secret"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for mode in (0o640, 0o604, 0o660, 0o644):
        path.chmod(mode)
        with pytest.raises(CourseError, match="others may read") as caught:
            course.secret()
        assert f"{mode:04o}" in str(caught.value) and "chmod 600" in str(caught.value)
    path.chmod(0o600)
    assert len(course.secret()) == 32


def test_two_courses_have_two_secrets(tmp_path: Path) -> None:
    assert Course.init(tmp_path / "a", "T").secret() != Course.init(tmp_path / "b", "T").secret()


def test_init_again_overwrites_nothing_and_completes_what_is_missing(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "First")
    (course.folder / "roster.csv").write_text("id\nada\n")
    before = snapshot(course.folder)
    (course.folder / ".gitignore").unlink()
    again = Course.init(course.folder, "Second")
    assert again.title == "First"
    assert snapshot(course.folder) == before


@pytest.mark.parametrize(("data", "got"), [(b"", "0 bytes"), (b"x" * 31, "31 bytes"), (b"x" * 33, "more")])
def test_a_damaged_secret_is_refused(tmp_path: Path, data: bytes, got: str) -> None:
    course = Course.init(tmp_path / "dl", "T")
    (course.folder / ".softmark" / "secret").write_bytes(data)
    with pytest.raises(CourseError, match="damaged") as caught:
        course.secret()
    assert caught.value.got == got


def test_a_missing_secret_is_never_made_anew_silently(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    (course.folder / ".softmark" / "secret").unlink()
    with pytest.raises(CourseError, match="can't be read"):
        course.secret()


def test_a_course_is_found_from_the_folders_below(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    assert course_folder_above(course.problems) == course.folder
    assert course_folder_above(tmp_path) is None
    # A course.yaml alone makes no course of a folder above.
    (tmp_path / "course.yaml").write_text("title: T\n")
    assert course_folder_above(tmp_path) is None


def test_what_is_no_course_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="isn't a course folder") as caught:
        Course.open(tmp_path)
    assert "grade init" in str(caught.value)
    (tmp_path / "file").write_text("x")
    with pytest.raises(CourseError, match="can't be made"):
        Course.init(tmp_path / "file", "T")


def test_faults_of_course_yaml_come_with_their_places(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    path = course.folder / "course.yaml"
    path.write_text("title: T\nmode: exam\nstores: x\npolicies:\n  unlisted_students: maybe\n")
    with pytest.raises(InputError) as caught:
        Course.open(course.folder)
    shown = str(caught.value)
    for place in (f"{path}:2:", f"{path}:3:", f"{path}:5:"):
        assert place in shown
    path.write_text("title: T\ntitle: U\n")
    with pytest.raises(InputError, match=":2:1"):
        Course.open(course.folder)


def test_another_store_can_be_named(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    (course.folder / "course.yaml").write_text("title: T\nstore: marks.db\nmode: practice\n")
    course = Course.open(course.folder)
    assert course.mode == "practice"
    with course.open_store() as store:
        assert store.where == str(course.folder / "marks.db")


def test_a_queue_is_on_a_server_and_its_fault_has_a_place(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    path = course.folder / "course.yaml"
    path.write_text("title: T\nqueue: postgresql+psycopg://lecturer@db/queue\n")
    course = Course.open(course.folder)
    assert course.settings.queue == "postgresql+psycopg://lecturer@db/queue"
    assert course.store_place == course.folder / ".softmark" / "store.db"  # a queue moves no store
    for faulty in (
        "queue.db",
        "mysql://me:hunter2@db/queue",
        "postgresql:/me:hunter2@db",
        "postgresqlx://db",
    ):
        path.write_text(f"title: T\nqueue: {faulty}\n")
        with pytest.raises(InputError) as caught:
            Course.open(course.folder)
        shown = str(caught.value)
        assert f"{path}:2:8: a queue is at postgresql://user@host/name" in shown and "hunter2" not in shown
    for faulty, sentence in (("''", "is empty"), ("[1]", "text"), (f"postgresql://{'x' * 500}", "500")):
        path.write_text(f"title: T\nqueue: {faulty}\n")
        with pytest.raises(InputError, match=sentence) as caught:
            Course.open(course.folder)
        assert f"{path}:2:8:" in str(caught.value)


def test_whose_queue_a_command_uses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = Course.init(tmp_path / "dl", "T")
    path = course.folder / "course.yaml"
    # As ever: without the setting it is in the store, whichever that is.
    assert find_context(course.folder).queue_place == course.store_place
    monkeypatch.setenv("SOFTMARK_STORE", "postgresql://me@db/store")
    assert find_context(course.folder).queue_place == "postgresql://me@db/store"
    # Another store has its work graded where the course has.
    path.write_text("title: T\nqueue: postgresql://me@db/queue\n")
    context = find_context(course.folder)
    assert (context.store_place, context.queue_place) == (
        "postgresql://me@db/store",
        "postgresql://me@db/queue",
    )


def test_the_example_comes_once(tmp_path: Path) -> None:
    course = Course.init(tmp_path / "dl", "T")
    course.add_example()
    assert "007" in course.roster_ids() and len(course.roster_ids()) == 5
    assert course.roster().by_id["grace"].name == "Hopper, Grace"
    (course.folder / "roster.csv").write_text("id\nmine\n")
    course.add_example()
    assert course.roster_ids() == ["mine"]


@pytest.mark.slow
def test_the_examples_blueprint_can_be_composed(tmp_path: Path) -> None:
    from engine.items.bank import builtin_bank
    from engine.quiz import choose_items, read_blueprint

    course = Course.init(tmp_path / "dl", "T")
    course.add_example()
    plan = read_blueprint(course.blueprints / "example.yaml")
    assert len(choose_items(plan, builtin_bank(), b"s" * 32, "example").of("ada")) == 3


# --- the roster ---


def roster(tmp_path: Path, data: bytes | str) -> Roster:
    path = tmp_path / "roster.csv"
    path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
    return read_roster(path)


def faults(tmp_path: Path, data: bytes | str) -> list[tuple[int, str]]:
    with pytest.raises(CourseError) as caught:
        roster(tmp_path, data)
    return [(d.line, d.message) for d in caught.value.diagnostics] or [(0, caught.value.what)]


EMMY = Student("007", "Nöther, Emmy", "emmy@example.org")


@pytest.mark.parametrize(
    "data",
    [
        'id,name,email\n007,"Nöther, Emmy",emmy@example.org\n',
        '\ufeffid,name,email\r\n007,"Nöther, Emmy",emmy@example.org\r\n',
        'id,name,email\n007,"Nöther, Emmy",emmy@example.org'.encode("cp1252"),
        "id\tname\temail\r\n007\tNöther, Emmy\temmy@example.org\r\n".encode("utf-16"),
        "ID;Email;Name;Group\n\n007;emmy@example.org;Nöther, Emmy;3\n;;;\n",
        'name,email,id\n"No\u0308ther, Emmy",emmy@example.org, 007 \n',
    ],
)
def test_rosters_as_spreadsheets_save_them(tmp_path: Path, data: bytes | str) -> None:
    assert roster(tmp_path, data) == Roster((EMMY,))


def test_ids_stay_text(tmp_path: Path) -> None:
    found = roster(tmp_path, "id\n007\n7\n1e3\n+1\n")
    assert [s.id for s in found.students] == ["007", "7", "1e3", "+1"]


def test_all_faults_are_reported_with_their_lines(tmp_path: Path) -> None:
    text = (
        'id,name\nada,Ada\n,Nobody\n"bob","Two\nlines"\nada,Again\nc,Lovelace, C\nd\u202ee,Evil\n'
        + "x" * 101
        + ",Long\n"
    )
    found = faults(tmp_path, text)
    assert [line for line, _ in found] == [3, 6, 7, 8, 9]
    assert "no id" in found[0][1]
    assert "'ada' is in line 2 already" in found[1][1]
    assert "in quotes" in found[2][1]
    assert "invisible" in found[3][1]
    assert "100" in found[4][1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("name,email\nAda,a@b\n", "name the columns"),
        ("id,id\n1,2\n", "appears twice"),
        ("ada\nbob\n", "name the columns"),
        ('id,name\n"ada,Ada\n', "isn't valid CSV"),
        (b"id\n\x81\x8d\n", "isn't a text file"),
        (b"id\0\n", "isn't a text file"),
        (b"\xff\xfei\xd8", "isn't a text file"),
    ],
)
def test_what_is_no_roster(tmp_path: Path, data: bytes | str, message: str) -> None:
    assert message in faults(tmp_path, data)[0][1]


def test_a_missing_or_huge_roster(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no such file"):
        read_roster(tmp_path / "none.csv")
    assert "too large" in faults(tmp_path, b"id\n" + b"x\n" * 2**22)[0][1]


def test_an_empty_file_is_an_empty_roster(tmp_path: Path) -> None:
    assert roster(tmp_path, "") == Roster()
    assert roster(tmp_path, "id,name,email\n") == Roster()


@given(
    st.one_of(
        st.text(st.characters(codec=None), max_size=30),
        st.sampled_from(
            ["\x07", "a\x00b", "\x85", "\u2028", "\ufeff", "\ud800", " ", "'", '"', "a: b", "# x", "x" * 201]
        ),
    )
)
def test_what_init_writes_can_be_opened(title: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "course"
        try:
            made = Course.init(folder, title)
        except CourseError as refused:
            assert "title" in refused.what and not folder.exists(), "nothing is written"
        else:
            assert made.title == title.strip() == Course.open(folder).title


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("packages: [reference]", "computes the keys"),
        ("packages: [scipy.special]", "packages"),
        ("packages: scipy", "packages"),
    ],
)
def test_packages_are_names_of_imports_and_none_that_holds_keys(tmp_path: Path, line: str, told: str) -> None:
    folder = tmp_path / "course"
    Course.init(folder, "A course")
    settings = folder / "course.yaml"
    settings.write_text(settings.read_text(encoding="utf-8") + f"{line}\n", encoding="utf-8")
    with pytest.raises(SpecError, match=told):
        Course.open(folder)


def test_missing_packages_are_told_with_their_line(tmp_path: Path) -> None:
    folder = tmp_path / "course"
    Course.init(folder, "A course")
    settings = folder / "course.yaml"
    settings.write_text(
        settings.read_text(encoding="utf-8") + "packages: [scipy, no_such_package_here]\n", encoding="utf-8"
    )
    (told,) = missing_package_warnings(Course.open(folder))
    assert "no_such_package_here isn't installed here" in told.message
    assert told.source_line == "packages: [scipy, no_such_package_here]"
