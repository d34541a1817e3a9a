"""What somebody meets first: narrow terminals, forgotten words, output that nobody reads, the next step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.commands import GROUPS, list_items, terminal
from engine.commands import grade as group
from engine.commands.report_text import printed_lines
from engine.commands.terminal import show_table
from engine.items.bank import builtin_bank

ROOT = Path(__file__).parents[2]
NEARLY = "import numpy as np\n\ndef softmax(x, axis=-1):\n    print('shape', x.shape)\n    e = np.exp(x)\n"
NEARLY += "    return e / e.sum(axis=axis, keepdims=True)\n"


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 140])
def test_every_id_is_whole_in_a_list_of_any_width(
    grade, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr(list_items, "width", lambda **_: columns)
    lines = grade("list").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == builtin_bank().ids()
    assert max(map(len, lines)) <= columns


@pytest.mark.parametrize("columns", [24, 40, 56, 57, 60, 64, 70, 80, 120])
def test_a_table_breaks_no_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")  # a dumb one is always taken for 80 columns wide
    monkeypatch.setenv("NO_COLOR", "1")
    words = ["l16-ex2-greedy-vs-beam", "beam-length-normalised", "a sentence of several words about it"]
    show_table(["student", "item", "because"], [words, words])
    shown = capsys.readouterr().out
    assert all(shown.count(word) == 2 for word in (*words[:2],)), shown
    assert all(shown.split().count(word) == 2 for word in words[2].split()), shown


def test_prose_is_broken_between_words_only() -> None:
    text = "  type a point; earns its share\nshort"
    assert terminal.wrapped(text, 14) == "  type a\n  point; earns\n  its share\nshort"
    assert terminal.wrapped(text, None) == text


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["coverage"], ["schema"]])
def test_a_reader_that_goes_away_is_no_failure(arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, ROOT / "cli.py", *arguments]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_signs_stay_apart_where_the_encoding_lacks_them(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.replace_signs()
    said = "✓ ✗ – → … α̂ λ é “x”".encode("ascii", "softmark").decode()
    assert said == '+ x - -> ... alpha^ lambda e "x"'
    assert "日".encode("ascii", "softmark") == b"?"


def test_help_lists_every_command_in_a_group_and_cuts_no_sentence(grade) -> None:
    told = grade("--help").out
    assert all(f"\n{heading}:\n" in told for heading in GROUPS)
    assert told.count("...") == 1  # of the usage line
    names = [name for names in GROUPS.values() for name in names]
    assert len(names) == len(set(names)) and all(f"\n  {name} " in told for name in names)
    for words in ((), ("help",)):
        assert (grade(*words).code, grade(*words).out.strip()) == (0, told.strip())
    assert grade("help", "quiz", "new").out == grade("quiz", "new", "--help").out
    assert grade("version").out == grade("--version").out
    assert grade("help", "quizz").code == 2
    assert group.get_short_help_str  # the group itself has a sentence


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("submit", "right.py"), "grade submit softmax right.py"),
        (("watch", "right.py"), "grade watch softmax right.py"),
        (("hint", "right.py"), "grade hint softmax right.py"),
        (("submit", "right.py", "softmax"), "grade submit softmax right.py"),
        (("watch", "right.py", "softmax"), "grade watch softmax right.py"),
        (("show", "right.py"), "grade show softmax"),
        (("start", "sdpa.py"), "grade start sdpa"),
        (("submit", "ok.yaml.txt"), "rename it to ok.yaml, then grade submit ok.yaml"),
        (("submit", "folder"), "grade submit ITEM folder"),
        (("watch", "softmax"), "grade watch softmax FILE.py"),
        (("show", "softmax", "--seed", "abc"), "'abc' is not a whole number"),
        (("show", "softmax", "--seed", "-1"), "-1 must be 0 or more"),
        (("show", "softmax", "--seed", "9" * 20), f"{'9' * 20} must be between 0 and 9223372036854775807"),
    ],
)
def test_whoever_forgets_a_word_is_told_the_whole_command(
    grade, arguments: tuple[str, ...], words: str
) -> None:
    Path("right.py").write_text(NEARLY)
    Path("ok.yaml.txt").write_text("quiz: x\n")
    Path("folder").mkdir()
    said = grade(*arguments)
    assert said.code == 2
    assert words in said.err


def test_failures_come_first_and_what_passed_is_folded(grade) -> None:
    Path("mine.py").write_text(NEARLY)
    said = grade("submit", "softmax", "mine.py")
    lines = said.out.splitlines()
    assert said.code == 1
    marks = [line[0] for line in lines[1:5]]
    assert marks == ["✗", "✗", "✗", "✓"]
    assert "✓ passed" not in said.out
    printed = lines.index("Your file printed:")
    assert lines[printed + 1].startswith("    shape (") and "RuntimeWarning" not in said.out
    assert lines[printed + 11] == "    … (more was printed)"
    assert lines[-1] == "  next: grade hint softmax"
    every = grade("submit", "softmax", "mine.py", "--checks").out
    assert every.count("✓ passed") > 10
    assert json.loads(grade("submit", "softmax", "mine.py", "--json").out)["printed"].startswith("shape (")


@pytest.mark.parametrize(
    ("ids", "words"),
    [(["sizes"], "1 skipped, because it builds on"), (["a", "b"], "2 skipped, because they build on")],
)
def test_a_count_of_skipped_checks_agrees(ids: list[str], words: str, capsys) -> None:
    from engine.commands.report_text import show_report
    from engine.model import Check, GradeReport, Mode, Outcome, Verdict

    checks = (
        Check("loads", Verdict.FAILED, 0, 1, "no"),
        *(Check(i, Verdict.SKIPPED, 0, 1, "") for i in ids),
    )
    report = GradeReport(
        "softmax", "v", Outcome.WRONG, 0.0, 3.0, checks=checks, mode=Mode.PRACTICE, tier="T2"
    )
    show_report(report)
    assert f"– {words} a check that didn't pass: {', '.join(ids)}" in " ".join(
        capsys.readouterr().out.split()
    )


def test_what_is_printed_is_cleaned_and_limited() -> None:
    assert printed_lines("") == []
    assert printed_lines("a\x1b[31m\n\n  b\r\n") != ["a\x1b[31m", "  b"]
    assert len(printed_lines("x\n" * 1000)) == 11
    assert all(len(line) <= 201 for line in printed_lines("y" * 10_000))
    warning = "softmax.py:4: RuntimeWarning: overflow encountered in exp\n  e = np.exp(x)\n"
    assert printed_lines(f"{warning}mine\n{warning}") == ["mine"]


def test_a_wrong_answer_gets_a_name_or_a_next_step(grade) -> None:
    named = grade("submit", "softmax-weights", "--seed", 7, "--answer", "0.101 0.571 0.328").out
    assert "→ m-base2: " in named and named.endswith("  next: grade hint softmax-weights --seed 7\n")
    unnamed = grade("submit", "softmax-weights", "--seed", 7, "--answer", "0.1 0.2 0.7").out
    assert "This answer matches none of the known mistakes.\n  next: grade hint" in unnamed
    blank = grade("submit", "softmax-weights", "--seed", 7, "--answer", " ").out
    assert "No answer." in blank and "known here" not in blank and "next: grade hint" in blank
    right = grade("submit", "softmax-weights", "--seed", 7, "--answer", "0.054 0.653 0.293")
    assert right.code == 0 and "next:" not in right.out


def test_a_course_is_made_once_and_its_items_can_be_checked_alone(grade) -> None:
    assert json.loads(grade("init", "c", "--json").out) == {"course": "c", "title": "c", "made": True}
    assert grade("init", "c").out == "the course c exists already: nothing in it was overwritten\n"
    none = grade("lint", "--own", "--course", "c")
    assert none.code == 2 and "no items of its own" in none.err
    for item in ("one", "two"):
        assert grade("new", "item", item, "--type", "number", "--course", "c").code == 0
    for words in (("--own", "--course", "c"), ("c/problems", "--course", "c"), ("c/problems",)):
        said = grade("lint", *words, "--seeds", 2)
        assert (said.code, said.out.splitlines()[-1].split(":")[0]) == (0, "2 items checked"), said
    Path("empty").mkdir()
    assert "no problem files in this folder" in grade("lint", "empty").err


def test_a_mark_finds_its_student_as_answers_do(grade) -> None:
    grade("init", "c")
    Path("c/roster.csv").write_text("id,name,email\n008,James Bond,j@example.org\ns2,Zoë,z@example.org\n")
    said = grade("mark", "set", "8", "softmax", "--score", 3, "--by", "me", "--course", "c")
    assert (said.code, said.out) == (0, "008 softmax: 3\n")
    assert grade("mark", "set", "8", "softmax", "--withdraw", "--course", "c").code == 0
    assert "no student '9'" in grade("mark", "set", "9", "softmax", "--score", 3, "--course", "c").err


def test_identical_files_are_one_group_and_no_row_of_pairs(grade) -> None:
    for student in ("ada", "bob", "eve", "zoe"):
        own = Path("in", student)
        own.mkdir(parents=True)
        other = student == "zoe"
        text = (
            NEARLY.replace("e = np.exp(x)", "shifted = x - x.max()\n    e = np.exp(shifted)")
            if other
            else NEARLY
        )
        (own / "softmax.py").write_text(text + ("" if student == "ada" else "\n\n"))
    said = grade("similar", "in").out
    assert "identical files of 3: ada, bob, eve\n" in said
    assert not any(
        {"ada", "bob"} <= set(line.split()) for line in said.splitlines() if "identical" not in line
    )
    found = json.loads(grade("similar", "in", "--json").out)
    assert "ada" in json.dumps(found) and '"identical": [["ada", "bob", "eve"]]' in json.dumps(found)


def test_a_new_course_says_what_comes_next_in_it(grade) -> None:
    empty = grade("init", "empty").out
    assert "next: write your students in empty/roster.csv" in empty and "grade quiz new l16" in empty
    filled = grade("init", "filled", "--example").out
    assert "write your students" not in filled and "l16" not in filled
    assert "  next: grade quiz new example --course filled\n" in filled
    assert grade("quiz", "new", "example", "--course", "filled").code == 0


def test_a_quiz_that_is_drawn_is_published_or_handed_out_next(grade) -> None:
    grade("init", "c", "--example")
    Path("c/blueprints/one.yaml").write_text("title: One\nsections: [{title: A, items: [softmax-weights]}]\n")
    said = grade("quiz", "new", "one", "--course", "c", "--student", "ada").out
    assert said.startswith("1 quiz of 1 question is in c/quizzes/one\n")
    assert "  next: grade quiz publish one --course c, for the site" in said
    assert "  or: hand out" in said and "grade batch DIR --course c --out results" in said
    assert grade("quiz", "publish", "one", "--course", "c").code == 0
    assert json.loads(grade("quiz", "deadline", "one", "--course", "c", "--json").out)[0]["deadline"] is None


def test_the_shell_completes_items(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.commands.options import complete_items

    found = complete_items(None, None, "softmax")  # type: ignore[arg-type]
    assert "softmax" in found and "softmax-weights" in found
    assert all(item.startswith("softmax") for item in found)


def test_a_course_folder_is_no_folder_of_hand_ins(grade) -> None:
    assert grade("init", "my class", "--example").out.endswith("grade quiz new example --course 'my class'\n")
    for course in ((), ("--course", "my class")):
        said = grade("batch", "my class", "--out", "results", *course)
        assert said.code == 2 and "this is a course folder" in said.err, said
    assert not Path("results").exists()


def test_a_quiz_for_somebody_outside_the_roster_says_so(grade) -> None:
    assert grade("init", "c", "--example").code == 0
    known = Path("c/roster.csv").read_text().splitlines()[1].split(",")[0]
    said = grade("quiz", "new", "l16", "--course", "c", "--student", known)
    assert (said.code, said.err) == (0, "")
    said = grade("quiz", "new", "l16", "--course", "c", "--student", known + "x")
    assert said.code == 0 and f"{known}x isn't in the roster; did you mean '{known}'?" in said.err
