"""Every command that a page, a help text or an error message shows, run as it is printed.

A page begins in a copy of one small class (or of the class of the demo), with the files that it takes for
granted: `BEFORE` and `FILES`. Its commands are called in their order, and where a page shows what is printed,
that is compared; in what is shown, a line ``…`` stands for any lines, and ``…`` in a line for anything.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

import engine.authoring.preview.server as server
import engine.commands.watch as watch_blocks
from engine.authoring.scaffold import scaffold, write_new_files
from engine.commands import grade as group
from engine.commands import run
from engine.course import Course
from engine.store.student_requests import RequestKind
from tests.integration.quizzes.conftest import ITEMS, REGISTRY
from tests.repo.command_lines import walk

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
EXAMPLES = ROOT / "examples"

# Pages whose commands another test runs, with what they print.
ELSEWHERE = {
    "docs/writing-items.md": "tests/integration/test_writing_items.py",
    "docs/handing-in.md": "tests/integration/test_intake_command.py",
    "docs/writing-code-exercises.md": "tests/integration/test_writing_code_exercises.py",
    "docs/scaling.md": "tests/integration/test_scaling_page.py",
}
# Commands that aren't run here, as patterns of the whole line, and why.
NOT_RUN = {
    r"make .*": "sets up an environment and runs everything, this test too",
    r"pip .*": "installs: tests/repo/test_wheel.py builds and installs the wheel",
    r"nbgrader .*|softmark-env/bin/.*|mkdir -p source/.*|grade .* --course \.\./attention-2026 .*": (
        "needs nbgrader: tests/integration/test_export_nbgrader.py runs these as printed"
    ),
    r"python3 -m venv .*": "makes an environment: tests/repo/test_wheel.py does",
    r"source .*": "changes the shell",
    r"python benchmarks/.*": "measures for minutes: tests/repo/test_benchmarks_code.py runs short forms",
    r"grade lint --mutants --seeds 100": "proves 30 exercises a hundred times",
    r"grade lint(?: --mutants| --strict)?": "proves the whole bank: tests/integration/test_bank_lint.py does",
    r"grade doctor": "tests/sandbox/test_doctor_acts.py runs it",
    r"grade store copy postgresql://.*": "needs a server: tests/unit/store has one",
    r"grade store copy attention-2026/.softmark/store.db --store .*": "goes back; the store is still there",
    r"grade lti members.*": "needs a learning system: tests/integration/test_lti_command.py has one",
    r"grade scan .*": "needs sheets printed and scanned: tests/integration/test_scan_command.py",
    r"grade serve(?! --check).*": "serves until it is stopped: tests/web/test_operation.py",
    r"grade mark (?:answers? [0-9a-z]|export-answers|import-answers).*": "needs answers in words: "
    "tests/integration/quizzes/test_free_text.py has some",
    r"grade (?:worker .*|worker|.* --cluster.*)": "needs a server: "
    "tests/integration/test_cluster_command.py has one",
    r"grade queue.*": "needs a server: tests/integration/test_queue_command.py has one",
    r"grade autograder results.*": "runs inside Gradescope: tests/integration/test_autograder.py",
}
# Pages that show what another class than the one of this test got: run, but not compared.
ANOTHER_CLASS = {
    "docs/answers.md",
    "docs/durability.md",
    "docs/feedback.md",
    "docs/gradebooks.md",
    "docs/integrity.md",
    "docs/policies.md",
    "docs/regrading.md",
}
# Single outputs that depend on the machine or the moment.
VARIES = (
    "grade quiz take practice",  # tests/integration/quizzes/test_guide.py compares it
    "grade watch softmax softmax.py",
    "grade quiz check week --students 40 --course attention-2026",  # drawn with a secret of its own
)
# Exit codes of pages' commands that aren't 0 or 1, as the page says.
CODES: dict[str, int] = {}

NEARLY = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)
"""
RIGHT = NEARLY.replace("np.exp(x)", "np.exp(x - x.max(axis=axis, keepdims=True))")
HOPELESS = "def softmax(x, axis=-1):\n    return x / sum(x)\n"
STUDENTS = ("007", "ada", "bob", "s01", "s02", "s07")
OLX_COURSE = {
    "course.xml": '<course url_name="run"/>',
    "course/run.xml": '<course><problem url_name="two"/></course>',
    "problem/two.xml": "<problem><p>Two and two?</p><numericalresponse answer='4'/></problem>",
}
QTI_MANIFEST = """<manifest><resources>
<resource identifier="two" type="imsqti_item_xmlv3p0" href="two.xml"/></resources></manifest>"""
QTI_ITEM = """<qti-assessment-item identifier="two" title="Twice two">
<qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="integer">
<qti-correct-response><qti-value>4</qti-value></qti-correct-response></qti-response-declaration>
<qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"/>
<qti-item-body><p>Two and two?</p><p><qti-text-entry-interaction response-identifier="RESPONSE"/></p>
</qti-item-body><qti-response-processing template="https://example.org/match_correct.xml"/>
</qti-assessment-item>"""
XML = """<?xml version="1.0"?><quiz><question type="numerical"><name><text>two</text></name>
<questiontext format="html"><text>Two and two?</text></questiontext>
<answer fraction="100"><text>4</text></answer></question></quiz>
"""


@dataclass(frozen=True)
class Step:
    """A file that a page shows, or a command with what it shows of its output (None: nothing is shown)."""

    text: str
    shown: str | None = None
    file: str | None = None


_FENCE = re.compile(
    r"^(?:`(?P<name>[\w./-]+)`\n\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


def steps(page: str) -> list[Step]:
    """Return what a page has its reader do, in order: fenced consoles, indented sessions, files."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found: list[tuple[int, Step]] = []
    for fence in _FENCE.finditer(text):
        if fence["kind"] in ("console", "bash", "sh"):
            found += [(fence.start(), step) for step in _session(fence["text"])]
        elif fence["name"]:
            found.append((fence.start(), Step(fence["text"], file=fence["name"])))
    plain = _FENCE.sub(lambda fence: "\n" * len(fence[0]), text)  # the places stay
    for block in re.finditer(r"(?:^    .*\n|(?<=\n)\n(?=    ))+", plain, re.MULTILINE):
        session = re.sub(r"^    ", "", block[0], flags=re.MULTILINE)
        if re.search(r"^(?:\$ )?(?:grade|python|make|pip|cd) ", session, re.MULTILINE):
            found += [(block.start(), step) for step in _session(session)]
    return [step for _, step in sorted(found, key=lambda pair: pair[0])]


def _session(text: str) -> Iterator[Step]:
    text = re.sub(r"\\\n\s*", "", text)
    if not re.search(r"^\$ ", text, re.MULTILINE):  # commands alone, one a line
        text = re.sub(r"^(?=(?:grade|python|make|pip|cd) )", "$ ", text, flags=re.MULTILINE)
        for line in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
            yield Step(_bare(line))
        return
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, output = piece.partition("\n")
        yield Step(_bare(line), output.strip("\n") or None)


def _bare(line: str) -> str:
    """Return a command without the words behind it that explain it."""
    return re.sub(r"(?:\s+#\s.*|\s{3,}\S.*)$", "", line).strip()


def inline(page: str) -> list[str]:
    """Return the commands that a page names within its sentences."""
    text = (ROOT / page).read_text(encoding="utf-8")
    text = _FENCE.sub("", text)
    return list(dict.fromkeys(re.findall(r"`(grade [^`]+)`", text.replace("\n", " "))))


def has_placeholder(line: str) -> bool:
    return (
        re.search(r"(?:^|[\s=/])[A-Z][A-Z]+\b|…|\[", line) is not None or re.search(r" C$", line) is not None
    )


def parse(line: str) -> None:
    """Read a command line as far as its options go; click's own error says what is unknown."""
    command: click.Command = group
    words = list(shlex.split(re.sub(r"[\[\]…]|>.*", "", line))[1:])
    context = click.Context(command)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, found, rest = command.resolve_command(context, words)
        assert found is not None
        context, command, words = click.Context(found, parent=context, info_name=name), found, list(rest)
    command.make_parser(context).parse_args([word for word in words if word not in ("--help", "--version")])


def examples() -> list[str]:
    """Return the examples of all help texts."""
    lines = []
    for _, command in walk(group):
        told = re.split(r"Examples?:\n", command.help or "")
        lines += re.findall(r"^\s*(grade .*)$", told[1], re.MULTILINE) if len(told) > 1 else []
    return lines


# --- the places that commands are called in ---


def called(line: str) -> tuple[int, str]:
    """Call ``grade`` and return its exit code and all that it printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(shlex.split(line)[1:])
    assert "Traceback" not in said.getvalue(), line
    return code, said.getvalue()


def needed(line: str) -> None:
    code, said = called(line)
    assert code in (0, 1), f"{line}\n{said}"


@pytest.fixture(scope="module", autouse=True)
def _as_a_person() -> Iterator[None]:
    """No keyboard, no browser; `watch` and `preview` end after their first report."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    patched = pytest.MonkeyPatch()
    shown = watch_blocks.WatchOutput.report
    patched.setattr(watch_blocks.WatchOutput, "report", lambda self, *a: (shown(self, *a), stop()))
    patched.setattr(
        server, "serve", lambda hub, listening, ready: (ready("http://127.0.0.1:1"), listening.close())
    )
    patched.setattr(sys, "stdin", io.StringIO())
    patched.setenv("COLUMNS", "80")
    yield
    patched.undo()


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    begin = Path.cwd()
    os.environ["SOFTMARK_HOME"] = str(folder.parent / f"home of {folder.name}")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(begin)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of six: five quizzes drawn, code and one quiz handed in and graded."""
    folder = tmp_path_factory.mktemp("small") / "class"
    folder.mkdir()
    with inside(folder):
        needed("grade init attention-2026")
        rows = "".join(f"{s},Student {s},{s}@example.org\n" for s in STUDENTS)
        Path("attention-2026/roster.csv").write_text(f"id,name,email\n{rows}")
        _items_of_the_week(Path("attention-2026"))
        for name, items in ((f"week-{n}", "softmax-weights") for n in (1, 2, 3)):
            more = ", l16-ex2-greedy-vs-beam, l16-full-pass" if name == "week-1" else ""
            plan = f"title: {name}\nsections:\n  - {{title: One, points: 10, items: [{items}{more}]}}\n"
            Path(f"attention-2026/blueprints/{name}.yaml").write_text(plan)
        for name in ("l16", "week", "week-1", "week-2", "week-3"):
            needed(f"grade quiz new {name} --course attention-2026")
        for at, student in enumerate(STUDENTS):
            own = Path("handed-in", student)
            own.mkdir(parents=True)
            (own / "softmax.py").write_text((RIGHT, NEARLY, HOPELESS)[at % 3])
            shutil.copy(f"attention-2026/quizzes/l16/l16-{student}.yaml", own)
            filled = Path(f"attention-2026/quizzes/week-3/week-3-{student}.yaml").read_text()
            filled = re.sub(r"^(\s*answer:).*$", r"\1 '0.1 0.2 0.7'", filled, flags=re.MULTILINE)
            (own / f"week-3-{student}.yaml").write_text(filled)
        shutil.make_archive("handed-in", "zip", "handed-in")
        needed("grade batch handed-in.zip --course attention-2026 --out results")
        with Course.open(Path("attention-2026")).open_store() as store:  # what students asked for on the site
            for quiz in ("week-1", "week-2"):
                for kind in (RequestKind.EXTENSION, RequestKind.REGRADE):
                    store.requests.ask(STUDENTS[0], kind, quiz, "please", datetime.now(UTC))
        _usual_files()
    return folder


def _items_of_the_week(course: Path) -> None:
    """Write three small items and the blueprint ``week`` of them, as the guide shows what they come to."""
    for name in ("t-sum", "t-pick", "t-only"):
        (course / f"problems/{name}.yaml").write_text(ITEMS[name])
    (course / "problems/misconceptions.yaml").write_text(REGISTRY)
    sections = "[{title: One, points: 2, items: [t-sum]}, {title: Two, points: 1, items: [t-pick, t-only]}]"
    plan = f"title: Week\ncredit: [1, 0.5]\nsections: {sections}\n"
    (course / "blueprints/week.yaml").write_text(plan)


def _usual_files() -> None:
    """Write the files that examples are given: a program, tables, other systems' questions."""
    for name, text in (("softmax.py", NEARLY), ("my_softmax.py", NEARLY), ("right.py", RIGHT)):
        Path(name).write_text(text)
    Path("nearly.py").write_text(NEARLY)
    Path("hopeless.py").write_text(HOPELESS)
    Path("my_folder").mkdir()
    Path("my_folder/softmax.py").write_text(RIGHT)
    Path("answers.csv").write_text("student,softmax-weights\nada,0.1 0.2 0.7\n")
    Path("oral.csv").write_text("student,column,score,comment,excused\nada,softmax,8,oral,\n")
    heads = "Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (4711),L16 quiz (4711),Write softmax (4712)"
    Path("canvas.csv").write_text(f"{heads}\n    Points Possible,,,,,13,13,10\nAda,1,ada,ada,A,,,\n")
    Path("question-bank.xml").write_text(XML)
    Path("week3.gift").write_text("::one:: Two and two? {#4}\n")
    with zipfile.ZipFile("qti-package.zip", "w") as package:
        package.writestr("imsmanifest.xml", QTI_MANIFEST)
        package.writestr("two.xml", QTI_ITEM)
    with tarfile.open("course.tar.gz", "w:gz") as course:
        for name, text in OLX_COURSE.items():
            member = tarfile.TarInfo(f"course/{name}")
            member.size = len(text)
            course.addfile(member, io.BytesIO(text.encode()))
    shutil.copy("attention-2026/quizzes/l16/l16-s01.yaml", ".")
    for name in ("my-item", "my-first-item"):
        Path(f"{name}.yaml").write_text(ITEMS["t-sum"].replace("t-sum", name))
    write_new_files(scaffold("code", "my-softmax", None, Path()))
    shutil.copy("attention-2026/problems/misconceptions.yaml", ".")
    cell = {"cell_type": "code", "source": RIGHT, "metadata": {}, "outputs": [], "execution_count": None}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    Path("my_notebook.ipynb").write_text(json.dumps(notebook))
    for name in ("submissions", "handed-in-2025"):
        shutil.copy("handed-in.zip", f"{name}.zip")
    Path("week3").mkdir()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class of ``make demo`` before anything is graded."""
    folder = tmp_path_factory.mktemp("demo") / "class"
    folder.mkdir()
    with inside(folder):
        needed("grade init course")
        for name in ("roster.csv", "course.yaml"):
            shutil.copy(EXAMPLES / "course" / name, f"course/{name}")
        for name in ("problems", "blueprints"):
            shutil.copytree(EXAMPLES / "course" / name, f"course/{name}", dirs_exist_ok=True)
        Path("course/.softmark/secret").write_bytes(b"the demo: 32 bytes known to all.")
        Path("course/.softmark/secret-fingerprint").unlink(missing_ok=True)
        needed("grade quiz new quiz-1 --course course")
        Path("handed-in").mkdir()
        played = [sys.executable, EXAMPLES / "answer_quizzes.py", "course", "quiz-1", "quizzes"]
        subprocess.run(played, check=True, capture_output=True)
        given = (EXAMPLES / "course/submissions", EXAMPLES / "course/again", EXAMPLES / "course/roster.csv")
        subprocess.run(
            [sys.executable, EXAMPLES / "downloads.py", *given, "quizzes", "handed-in"],
            check=True,
            capture_output=True,
        )
        shutil.copy(EXAMPLES / "course/canvas-gradebook.csv", "canvas.csv")
    return folder


def _roster_of_the_readme() -> None:
    rows = "".join(f"{s},Student {s},{s}@example.org\n" for s in STUDENTS)
    Path("roster.csv").write_text(f"id,name,email\n{rows}")


def _handed_in_of_the_readme() -> None:
    for at, student in enumerate(STUDENTS):
        own = Path("in", student)
        own.mkdir(parents=True)
        (own / "softmax.py").write_text((RIGHT, NEARLY, HOPELESS)[at % 3])
        shutil.copy(f"quizzes/l16/l16-{student}.yaml", own)
    shutil.make_archive("handed-in", "zip", "in")
    heads = "Student,ID,SIS User ID,SIS Login ID,Section,l16 (1),softmax (2)"
    Path("canvas.csv").write_text(f"{heads}\n    Points Possible,,,,,13,10\nS,1,s07,s07,A,,\n")


def _put_away_the_quizzes() -> None:
    for name in ("l16-s01.yaml", "quiz.yaml", "practice-me.yaml", "l16-me.yaml"):
        Path(name).unlink(missing_ok=True)


def _roster_of_the_guide() -> None:
    Path("attention-2026/roster.csv").write_text(
        "id,name,email\n007,James,j@example.org\nada,Ada,a@example.org\n"
    )
    _items_of_the_week(Path("attention-2026"))


def _corrected() -> None:
    shutil.copy(EXAMPLES / "course/corrected/same-number-added.yaml", "course/problems")


# (page, command) -> what its reader has done before: the page says so in words.
BEFORE: dict[tuple[str, str], Callable[[], object]] = {
    ("README.md", "grade quiz new l16"): _roster_of_the_readme,
    ("README.md", "grade batch handed-in.zip --out results"): _handed_in_of_the_readme,
    ("docs/instructor-guide.md", "grade regrade same-number-added --dry-run --course course"): _corrected,
    ("docs/instructor-guide.md", "grade quiz check l16 --course attention-2026"): _roster_of_the_guide,
    ("help", "grade start softmax"): lambda: Path("softmax.py").unlink(),
    ("help", "grade quiz key l16 --html l16-key.html --course attention-2026"): _put_away_the_quizzes,
    ("docs/student-guide.md", "grade start softmax"): lambda: Path("softmax.py").unlink(),
    ("docs/regrading.md", "grade regrade t-sum --dry-run"): lambda: os.chdir("attention-2026"),
}


def matches(shown: str, printed: str) -> bool:
    """Tell whether what a page shows is what was printed."""
    wanted = []
    for line in shown.splitlines():
        if line.strip() == "…":
            wanted.append(r"(?:.*\n)*?")
        else:
            wanted.append(r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("…")) + r" *\n")
    return re.fullmatch("".join(wanted) + r"\s*", printed + "\n") is not None


def _is_left_out(line: str) -> bool:
    return any(re.fullmatch(pattern, line) for pattern in NOT_RUN)


def played(page: str, folder: Path, commands: list[Step]) -> list[str]:
    """Do what a page says; return what isn't as it says."""
    faults = []
    with inside(folder):
        for step in commands:
            if step.file is not None:
                Path(step.file).parent.mkdir(parents=True, exist_ok=True)
                Path(step.file).write_text(step.text, encoding="utf-8")
                continue
            if step.text.startswith("#") or _is_left_out(step.text):
                continue
            BEFORE.get((page, step.text), lambda: None)()
            if step.text.startswith("cd "):
                os.chdir(step.text[3:])
                continue
            if not step.text.startswith("grade "):
                faults.append(f"{step.text}: neither run nor listed")
                continue
            line = step.text.partition(" > ")[0]
            code, said = called(line)
            if code not in (0, 1) and CODES.get(step.text) != code and " quiz take" not in step.text:
                if not ("watch" in step.text and code == 130):
                    faults.append(f"{step.text}: exit code {code}\n{said}")
            elif (
                step.shown is not None
                and page not in ANOTHER_CLASS
                and step.text not in VARIES
                and not matches(step.shown, said)
            ):
                faults.append(f"{step.text}: shown is\n{step.shown}\nprinted was\n{said}")
    return faults


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ELSEWHERE])
def test_the_commands_of_a_page_run_as_printed(
    page: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    commands = steps(page)
    named = [Step(line) for line in inline(page) if not has_placeholder(line) and _runs(line)]
    if not any(step.file is None and not _is_left_out(step.text) for step in (*commands, *named)):
        pytest.skip("nothing to run")
    folder = tmp_path / "here"
    if page == "README.md":
        folder.mkdir()
    else:
        name = "demo" if page == "docs/instructor-guide.md" else "small"
        shutil.copytree(request.getfixturevalue(name), folder, symlinks=True)
    if name_of_course := {"docs/gradebooks.md": "course"}.get(page):
        (folder / name_of_course).symlink_to("attention-2026")
    if page == "docs/integrity.md":
        (folder / "examples").symlink_to(EXAMPLES)
        (folder / "posted.txt").write_text("can anybody help me with 0.7 -1.2 3.1?", encoding="utf-8")
    faults = played(page, folder, commands)
    # what a sentence names is called where the reader is told to be: in the course, if there is one
    courses = [folder / name for name in ("course", "attention-2026") if (folder / name).is_dir()]
    for path in folder.iterdir() if courses else ():
        if path != courses[0] and not (courses[0] / path.name).exists():
            (courses[0] / path.name).symlink_to(path)
    faults += played(page, courses[0] if courses and page != "docs/student-guide.md" else folder, named)
    assert not faults, "\n\n".join(faults)


def _runs(line: str) -> bool:
    """Tell whether an inline command has all that it needs: others only name a command."""
    try:
        command: click.Command = group
        words = shlex.split(line)[1:]
        context = click.Context(command)
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            name, found, rest = command.resolve_command(context, words)
            assert found is not None
            context, command, words = click.Context(found, parent=context, info_name=name), found, list(rest)
        if isinstance(command, click.Group) or len(words) == 0:
            return False
        with contextlib.redirect_stdout(io.StringIO()):
            command.make_context(name, list(words))
    except click.exceptions.Exit:
        return False
    except click.ClickException:
        return False
    return True


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_the_commands_within_sentences_exist(page: str) -> None:
    for line in inline(page):
        parse(line)


def test_the_commands_of_help_texts_run(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    shutil.copytree(small, folder)
    with inside(folder):
        shutil.copy("l16-s01.yaml", "quiz.yaml")
        shutil.copy("attention-2026/blueprints/week.yaml", "my_blueprint.yaml")
        for name, text in (("roster.csv", ""), ("posted.txt", "0.7 -1.2 3.1")):
            Path(name).write_text(text)
    # inside the course, so that examples without --course find it; with it they find it too
    for path in list(folder.iterdir()):
        if path.name != "attention-2026" and not (folder / "attention-2026" / path.name).exists():
            shutil.move(path, folder / "attention-2026" / path.name)
    course = folder / "attention-2026"
    (course / "attention-2026").symlink_to(".")
    lines = [line for line in examples() if not has_placeholder(line)]
    assert len(lines) > 60
    last = ("quiz key l16 --html", "erase")  # what others need is gone afterwards

    def place(line: str) -> list[bool]:
        # a notebook is written before it is handed in
        return ["export notebook" not in line, *(word in line for word in last)]

    order = sorted(dict.fromkeys(lines), key=place)
    faults = played("help", course, [Step(line) for line in order])
    assert not faults, "\n\n".join(faults)


def test_what_isnt_run_is_somewhere_and_has_its_reason() -> None:
    lines = [step.text for page in PAGES for step in steps(page) if step.file is None]
    lines += [line for page in PAGES for line in inline(page)] + examples()
    unused = [pattern for pattern in NOT_RUN if not any(re.fullmatch(pattern, line) for line in lines)]
    assert unused == []
    assert all((ROOT / page).is_file() and (ROOT / test).is_file() for page, test in ELSEWHERE.items())
    assert all(len(steps(page)) > 0 for page in ANOTHER_CLASS)
    known = {(page, step.text) for page in PAGES for step in steps(page)}
    known |= {("help", line) for line in examples()}
    assert [key for key in BEFORE if key not in known] == []


def test_a_wrong_output_or_command_would_be_found(tmp_path: Path) -> None:
    assert matches("a\n…\nd …", "a\nb\nc\nd and more\n")
    assert not matches("a\nb", "a\nc\n")
    assert not matches("a", "a\nb\n")
    folder = tmp_path / "here"
    folder.mkdir()
    assert played("none", folder, [Step("grade shows x"), Step("grade version", "grade, version 9")]) != []
    with pytest.raises(click.UsageError):
        parse("grade batch x --aout r")


# Words behind "grade" in sentences about grading.
PROSE = (
    "a again all and answers book can code first for hand-ins hostile in inside it item many needs nothing "
    "of one posted programs softmax the them these this through wait what will with without yet your"
)


def test_the_commands_that_messages_name_exist() -> None:
    """Every text of the program: what stands behind ``grade`` is a command, or a sentence about grading."""
    names = set(group.list_commands(click.Context(group)))
    unknown = []
    for path in sorted((ROOT / "engine").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for word in re.findall(r"\bgrade ([a-z]+(?:-[a-z]+)*)\b", node.value):
                    if word not in names and word not in PROSE.split():
                        unknown.append(f"{path.relative_to(ROOT)}:{node.lineno}: grade {word}")
    assert unknown == []
