"""The course's own files as the site edits them: text and bytes, what is refused, and saving."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

import pytest

from engine.course import Course
from engine.course.course_files import (
    CourseFile,
    CourseFileKind,
    EditedText,
    blueprint_template,
    course_files,
    digest_of,
    find_course_file,
    load_text,
    new_blueprint_file,
    people_refusal,
    read_course_file,
    read_course_text,
    rule_refusals,
    save_course_file,
    staff_refusal,
)
from engine.course.people import Person, Role
from engine.errors import CourseError
from engine.text.files import MAX_BYTES

ROSTER = "id,name,email\nada,Ada,ada@example.edu\nbob,Bob,bob@example.edu\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Course.init(tmp_path / "course", "Attention")
    (tmp_path / "course" / "roster.csv").write_text(ROSTER, encoding="utf-8")
    return tmp_path / "course"


def file_of(folder: Path, name: str) -> CourseFile:
    file = find_course_file(folder, name)
    assert file is not None
    return file


# --- which files ---


def test_the_files_of_a_course_are_listed_and_no_others(folder: Path) -> None:
    (folder / "web.yaml").write_text("mail: {folder: mails}\n", encoding="utf-8")
    (folder / "blueprints" / "l16.yaml").write_text("title: A\n", encoding="utf-8")
    names = [file.name for file in course_files(folder)]
    assert names == ["roster.csv", "staff.csv", "course.yaml", "blueprints/l16.yaml"]
    for name in ("web.yaml", "../course/roster.csv", "blueprints/../web.yaml", ".softmark/secret", "", "\0"):
        assert find_course_file(folder, name) is None, name


@pytest.mark.parametrize("name", ["", " ", "../x", "a/b", ".hidden", "a b", "ä", "x" * 81, "a\nb", "con."])
def test_a_blueprint_can_only_have_a_plain_name(name: str, folder: Path) -> None:
    with pytest.raises(CourseError):
        new_blueprint_file(folder, name)


def test_a_name_with_its_ending_is_the_same_name(folder: Path) -> None:
    assert new_blueprint_file(folder, " week-5.yaml ").path == folder / "blueprints" / "week-5.yaml"


# --- text and bytes ---


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_line_ends_and_the_byte_order_mark_stay(newline: str, mark: bytes, folder: Path) -> None:
    data = mark + ROSTER.replace("\n", newline).encode()
    (folder / "roster.csv").write_bytes(data)
    edited = load_text(file_of(folder, "roster.csv"))
    assert edited.text == ROSTER and edited.is_utf8
    # a browser sends every line end as two characters
    assert edited.bytes_of(ROSTER.replace("\n", "\r\n")) == data
    assert edited.digest == digest_of(data)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16"])
def test_a_table_in_another_encoding_becomes_utf8(encoding: str, folder: Path) -> None:
    text = ROSTER.replace("Bob,", "Zoë,")
    (folder / "roster.csv").write_bytes(text.encode(encoding))
    edited = load_text(file_of(folder, "roster.csv"))
    assert edited.text == text and not edited.is_utf8
    assert edited.bytes_of(edited.text) == text.encode("utf-8")


@pytest.mark.parametrize("text", ["a\nb\ud800", "a\nb\ufffd"])
def test_damaged_characters_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(CourseError, match="line 2"):
        EditedText("", digest_of(b"")).bytes_of(text)


def test_what_was_damaged_before_may_stay() -> None:
    assert EditedText("x\ufffd", "").bytes_of("y\ufffd") == "y\ufffd".encode()


def test_a_text_of_more_than_a_mebibyte_is_refused() -> None:
    edited = EditedText("", digest_of(b""))
    assert len(edited.bytes_of("x" * MAX_BYTES)) == MAX_BYTES
    with pytest.raises(CourseError):
        edited.bytes_of("é" * (MAX_BYTES // 2 + 1))


def test_links_and_other_things_arent_edited(folder: Path) -> None:
    outside = folder.parent / "outside.csv"
    outside.write_text(ROSTER, encoding="utf-8")
    (folder / "roster.csv").unlink()
    (folder / "roster.csv").symlink_to(outside)
    with pytest.raises(CourseError, match="link"):
        load_text(file_of(folder, "roster.csv"))
    (folder / "roster.csv").unlink()
    (folder / "roster.csv").write_bytes(b"\x7fELF\0\0\0\0\0\0\0\0\xff\xfe")
    with pytest.raises(CourseError):
        load_text(file_of(folder, "roster.csv"))


def test_a_file_that_isnt_there_yet_begins_with_its_columns(folder: Path) -> None:
    edited = load_text(file_of(folder, "staff.csv"))
    assert (edited.text, edited.digest) == ("id,name,email,role\n", digest_of(b""))


# --- what the readers say ---


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("roster.csv", "id,name\nada,Ada\nada,Eve\n", 3, "already"),
        ("staff.csv", "id,name,role\nivy,Ivy,boss\n", 2, "role"),
        ("course.yaml", "title: A\npolicies:\n  timezone: Berlin\n", 3, "time zone"),
        ("course.yaml", "title: A\ntilte: B\n", 2, "tilte"),
        ("blueprints/week.yaml", "title: A\nsections:\n  - itmes: [x]\n", 3, "itmes"),
        ("blueprints/week.yaml", "title: [\n", 1, ""),
        ("course.yaml", "", 1, "empty"),
    ],
)
def test_faults_have_the_name_of_the_file_and_their_line(
    name: str, text: str, line: int, words: str, folder: Path
) -> None:
    (folder / "blueprints" / "week.yaml").write_text("title: A\n", encoding="utf-8")
    file = file_of(folder, name)
    reading = read_course_text(file, text.encode())
    assert (reading.faults[0].file, reading.faults[0].line >= line) == (name, True)
    assert any(words in fault.message for fault in reading.faults), reading.fault_lines
    # the same as of the file itself
    file.path.write_text(text, encoding="utf-8")
    assert read_course_file(file).faults == reading.faults
    assert str(folder) not in "".join(reading.fault_lines)


def test_addresses_that_take_no_mail_are_warnings(folder: Path) -> None:
    reading = read_course_text(file_of(folder, "roster.csv"), b"id,name,email\nada,Ada,none\n")
    assert not reading.faults and [warning.line for warning in reading.warnings] == [2]


def test_the_template_is_a_blueprint_and_so_is_each_of_its_comments(folder: Path) -> None:
    text = blueprint_template()
    file = new_blueprint_file(folder, "week")
    used = re.sub(r"(?m)^( *)# (?=\w+: )", r"\1", text)
    assert used.count("#") < text.count("#") - 5
    for each in (text, used):
        assert read_course_text(file, each.encode()).fault_lines == []
    assert "time_limit: 30" in used


# --- what may not be changed ---


BASE = "title: A\nmode: marks\nstore: .softmark/store.db\n"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (BASE, []),
        (BASE.replace("title: A", "title: B") + "decimal_comma: true\nerrata: hide\n", []),
        (BASE + "policies: {timezone: Europe/Berlin, assignments: {softmax: {due: 2026-11-06}}}\n", []),
        ("title: A\n", []),  # what is left out is as it was
        (BASE.replace(".softmark/store.db", "postgresql://evil.example/x"), [("store", 3)]),
        (BASE.replace(".softmark", "/tmp"), [("store", 3)]),
        (
            BASE.replace("mode: marks", "mode: practice") + "packages: [torch]\n",
            [("mode", 2), ("packages", 4)],
        ),
        ('title: A\n"store": other.db\n', [("store", 1)]),
    ],
)
def test_only_what_concerns_marks_can_be_changed(
    text: str, keys: list[tuple[str, int]], folder: Path
) -> None:
    file = file_of(folder, "course.yaml")
    before, after = (read_course_text(file, each.encode()).settings for each in (BASE, text))
    assert before is not None and after is not None
    refusals = rule_refusals(before, after, text)
    assert [(r.message.split("`")[1], r.line) for r in refusals] == keys


def test_nobody_takes_their_own_role_away() -> None:
    def staff(**roles: Role) -> list[Person]:
        return [Person(name, name, "", role) for name, role in roles.items()]

    before = staff(ivy=Role.INSTRUCTOR, max=Role.INSTRUCTOR, mia=Role.MARKER)
    assert staff_refusal(before, before, "ivy") is None
    assert staff_refusal(before, staff(ivy=Role.INSTRUCTOR), "ivy") is None
    for after in (staff(max=Role.INSTRUCTOR), staff(max=Role.INSTRUCTOR, ivy=Role.MARKER), []):
        assert "your own role" in (staff_refusal(before, after, "ivy") or "")
    # somebody whose role comes from a learning system
    assert "without an instructor" in (staff_refusal(before, staff(mia=Role.MARKER), "lti-7") or "")
    assert staff_refusal([], [], "lti-7") is None


def test_one_id_isnt_two_people(folder: Path) -> None:
    roster = read_course_file(file_of(folder, "roster.csv")).roster
    assert roster is not None
    assert people_refusal(roster, [Person("ada", "Ada", "ada@example.edu", Role.MARKER)]) is None
    refusal = people_refusal(roster, [Person("ada", "Eve Other", "eve@example.edu", Role.MARKER)])
    assert refusal is not None and "ada" in refusal


# --- saving ---


def test_a_save_is_one_step_with_its_note_before_it(folder: Path) -> None:
    file = file_of(folder, "roster.csv")
    file.path.chmod(0o640)
    seen = []

    def note(digest: str) -> None:
        seen.append((digest, file.path.read_text(encoding="utf-8")))

    data = b"id,name\nada,Ada\n"
    assert save_course_file(file, data, digest_of(ROSTER.encode()), note)
    assert file.path.read_bytes() == data and seen == [(digest_of(data), ROSTER)]
    assert file.path.stat().st_mode & 0o777 == 0o640, "whoever couldn't read it before still can't"


def test_nothing_is_saved_over_a_newer_text_or_without_a_note(folder: Path) -> None:
    file = file_of(folder, "roster.csv")

    def fails(digest: str) -> None:
        raise CourseError("the store is away")

    assert not save_course_file(file, b"id\n", digest_of(b"what was there"), fails)
    with pytest.raises(CourseError, match="store is away"):
        save_course_file(file, b"id\n", digest_of(ROSTER.encode()), fails)
    assert file.path.read_text(encoding="utf-8") == ROSTER
    assert [path.name for path in folder.iterdir() if "part" in path.name] == []


@pytest.mark.skipif(os.name != "posix", reason="needs a place that nobody can write to")
def test_a_folder_that_cant_be_written_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engine.course.course_files.replacing", refuse)
    with pytest.raises(CourseError, match=r"roster\.csv can't be written") as raised:
        file = file_of(folder, "roster.csv")
        save_course_file(file, b"id\n", digest_of(ROSTER.encode()), lambda digest: None)
    assert raised.value.got == "Permission denied"


def test_the_first_blueprint_makes_its_folder(folder: Path) -> None:
    (folder / "blueprints").rmdir()
    file = new_blueprint_file(folder, "week")
    assert file.kind is CourseFileKind.BLUEPRINT
    assert save_course_file(file, b"title: A\n", digest_of(b""), lambda digest: None, makes_folder=True)
    assert [f.name for f in course_files(folder)][-1] == "blueprints/week.yaml"
