"""``grade intake``, and ``grade batch --layout``: what a download is taken for, told before it is graded."""

from __future__ import annotations

import zipfile
from pathlib import Path

import click
import pytest

from engine.commands.intake import command as intake_command
from engine.course import Course
from engine.intake.layouts import LAYOUTS

CODE = "def softmax(x):\n    return x\n"
METADATA = """\
submission_8:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
  :created_at: 2026-07-01 22:30:05.113384000 Z
  :history:
  - :id: 7
    :created_at: 2026-06-30 10:00:00 Z
"""


def packed(name: str, files: dict[str, str]) -> None:
    with zipfile.ZipFile(name, "w") as made:
        for entry, text in files.items():
            made.writestr(entry, text)


@pytest.fixture
def course(grade) -> Course:
    assert grade("init", "dl", "--title", "Deep Learning").code == 0
    text = "id,name,canvas id\nada,Ada Lovelace,4712\n007,Emmy Nöther,4711\n"
    Path("dl/roster.csv").write_text(text, encoding="utf-8")
    settings = Path("dl/course.yaml")
    written = settings.read_text(encoding="utf-8")
    settings.write_text(written.replace("policies:\n", "policies:\n  timezone: Europe/Berlin\n"), "utf-8")
    return Course.open(Path("dl"))


def test_the_names_that_can_be_asked_for_are_those_there_are() -> None:
    option = next(parameter for parameter in intake_command.params if parameter.name == "layout")
    assert isinstance(option.type, click.Choice) and option.type.choices == ("auto", *LAYOUTS)


def test_a_download_of_canvas_is_shown(grade, course: Course) -> None:
    packed(
        "subs.zip",
        {
            "lovelaceada_4712_901_softmax.py": CODE,
            "lovelaceada_LATE_4712_977_softmax-1.py": CODE + "#\n",
            "notheremmy_4711_902_notes.pdf": "%PDF",
            "doejohn_8888_906_sdpa.py": CODE,
            ".DS_Store": "",
        },
    )
    said = grade("intake", "subs.zip", "--course", "dl")
    assert said.code == 1
    assert said.out.splitlines() == [
        "student       called            item     attempt  handed in  file",
        "ada           lovelaceada_4712  softmax  1                   lovelaceada_4712_901_softmax.py",
        "ada           lovelaceada_4712  softmax  2        late       lovelaceada_LATE_4712_977_softmax-1.py",
        "doejohn_8888                    sdpa     1                   doejohn_8888_906_sdpa.py",
        "",
        "layout canvas: 3 files of 2 students would be graded",
        "ignored: 1 file that systems left behind",
        "not joined: doejohn_8888: this student isn't in the roster; graded as doejohn_8888",
        "  next: add the student, or rename the folder",
        "not graded: notheremmy_4711_902_notes.pdf: this kind of file isn't graded",
        "  next: expected .py, .ipynb or .yaml; scanned answer sheets are read by grade scan",
    ]
    assert not Path("dl/.softmark/store.db").exists(), "nothing is stored"


def test_times_are_shown_in_the_courses_zone(grade, course: Course) -> None:
    packed(
        "export.zip",
        {
            "submission_metadata.yml": METADATA,
            "submission_8/softmax.py": CODE,
            "submission_7/softmax.py": CODE,
        },
    )
    said = grade("intake", "export.zip", "--course", "dl")
    assert said.code == 0
    assert said.out.splitlines()[:4] == [
        "student  called  item     attempt  handed in                    file",
        "ada              softmax  1        Tue 30 Jun 2026, 12:00 CEST  submission_7/softmax.py",
        "ada              softmax  2        Thu 2 Jul 2026, 00:30 CEST   submission_8/softmax.py",
        "",
    ]


def test_for_scripts(grade, course: Course) -> None:
    packed(
        "export.zip",
        {
            "submission_metadata.yml": METADATA,
            "submission_8/softmax.py": "import helpers\n" + CODE,
            "submission_8/helpers.py": "",
            "../evil.py": CODE,
        },
    )
    said = grade("intake", "export.zip", "--course", "dl", "--json")
    assert said.code == 1
    found = said.json()
    (student,) = found.pop("students")
    (file,) = student.pop("files")
    assert len(file.pop("sha256")) == 64
    assert student == {"student": "ada", "called": "ada"}
    assert file == {
        "file": "submission_8/softmax.py",
        "kind": "code",
        "item": "softmax",
        "sequence": 0,
        "handed": "2026-07-01T22:30:05.113384+00:00",
        "marked_late": False,
        "imports": ["helpers"],
    }
    assert found == {
        "layout": "gradescope",
        "tables": [],
        "problems": [
            {
                "student": None,
                "where": "../evil.py",
                "message": "this entry has a name that leads out of the archive; it was not unpacked",
                "next_step": "",
                "unjoined": False,
                "partly": False,
                "noted": False,
            }
        ],
        "ignored": ["submission_metadata.yml"],
    }


def test_tables_and_one_item_for_all(grade) -> None:
    Path("in").mkdir()
    Path("in/ada.py").write_text(CODE, encoding="utf-8")
    Path("in/answers.csv").write_text("id,q1\nada,3\n", encoding="utf-8")
    said = grade("intake", "in", "--item", "softmax")
    assert said.code == 0
    assert said.out.splitlines() == [
        "student  called  item     attempt  handed in  file",
        "ada              softmax  1                   ada.py",
        "",
        "layout plain: 1 file of 1 student would be graded",
        "a table of answers, read when it is graded: answers.csv",
    ]
    wrong = grade("intake", "in", "--item", "softmax-weights")
    assert wrong.code == 2 and "isn't a code exercise" in wrong.err


@pytest.mark.parametrize("command", ["intake", "batch"])
def test_a_layout_that_doesnt_fit_and_an_archive_that_is_empty(grade, command: str) -> None:
    out = ["--out", "out"] if command == "batch" else []
    packed("in.zip", {"ada/softmax.py": CODE})
    said = grade(command, "in.zip", *out, "--layout", "gradescope")
    assert said.code == 2
    assert said.err == (
        "error: in.zip: nothing in here is named as in a download of the layout gradescope\n"
        "  got: ada\n"
        "  next: leave --layout out to have it found out\n"
    )
    packed("empty.zip", {})
    empty = grade(command, "empty.zip", *out)
    assert empty.code == 2
    assert empty.err == (
        "error: empty.zip: nothing was handed in here\n  expected: one folder or one file per student\n"
    )
    assert not Path("out").exists()


def test_late_marks_and_order_reach_the_store(grade, course: Course) -> None:
    solution = Path(__file__).parents[2] / "problems/code/softmax/solution_numpy.py"
    right = solution.read_text(encoding="utf-8")
    packed(
        "subs.zip",
        {
            "lovelaceada_LATE_4712_977_softmax-1.py": right,
            "lovelaceada_4712_901_softmax.py": right + "# first\n",
        },
    )
    assert grade("batch", "subs.zip", "--course", "dl", "--out", "out").code == 0
    with course.open_store() as store:
        attempts = sorted(store.attempts(student="ada"), key=lambda attempt: attempt.sequence)
    assert [(a.filename, a.sequence, a.marked_late, a.handed) for a in attempts] == [
        ("lovelaceada_4712_901_softmax.py", 0, False, None),
        ("lovelaceada_LATE_4712_977_softmax-1.py", 1, True, None),
    ]
    assert attempts[0].started < attempts[1].started


PAGE = Path(__file__).parents[2] / "docs/handing-in.md"
ROSTER = """\
id,name,email,login,canvas id
s01,Ada Verlaine,ada.verlaine@example.org,ada-v,4711
s02,Bruno Okafor,bruno.okafor@example.org,bokafor,4712
s03,"Costa, Célia",celia.costa@example.org,celiac,4713
"""
GROUP = """\
submission_310:
  :submitters:
  - :name: Ada Verlaine
    :sid: s01
    :email: ada.verlaine@example.org
  - :name: Bruno Okafor
    :sid: s02
    :email: bruno.okafor@example.org
  :created_at: 2026-11-02 22:59:30.113384000 Z
  :history:
  - :id: 302
    :created_at: 2026-11-01 09:12:00.000000000 Z
"""


def shown_in_the_page() -> dict[str, str]:
    """Return the output of each command of the page."""
    found: dict[str, list[str]] = {}
    command = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            command = line[6:]
        elif line and not line.startswith("    "):
            command = ""
        elif command:
            found.setdefault(command, []).append(line[4:])
    return {command: "\n".join(lines).strip() for command, lines in found.items()}


def test_the_page_shows_what_is_printed(grade) -> None:
    assert grade("init", "attention-2026", "--title", "Attention").code == 0
    Path("attention-2026/roster.csv").write_text(ROSTER, encoding="utf-8")
    packed("hw.zip", {"hw/sdpa.py": CODE})
    with zipfile.ZipFile("canvas.zip", "w") as made:
        made.writestr("verlaineada_4711_9001_softmax.py", CODE)
        made.writestr("verlaineada_LATE_4711_9044_softmax-1.py", CODE + "#\n")
        made.write("hw.zip", "okaforbruno_4712_9002_hw.zip")
        made.writestr("costacelia_4713_9003_notes.docx", "PK")
        made.writestr("doejohn_4799_9010_softmax.py", CODE)
    packed(
        "gradescope.zip",
        {
            "assignment_77_export/submission_metadata.yml": GROUP,
            "assignment_77_export/submission_310/softmax.py": CODE,
            "assignment_77_export/submission_302/softmax.py": CODE + "#\n",
        },
    )
    shown = shown_in_the_page()
    assert len(shown) == 2
    for command, output in shown.items():
        assert grade(*command.split()[1:]).out.strip() == output
