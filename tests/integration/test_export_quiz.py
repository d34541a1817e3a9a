"""`grade export quiz` whatever the format: what is lost is said first, and nothing is half-written."""

from __future__ import annotations

import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pytest

from engine.course import Course
from engine.errors import EngineError
from engine.export import formats
from engine.export.exported_item import ExportedFamily, ExportedQuiz, ExportLoss
from engine.export.formats import QuizFormat
from engine.store import open_store


def losses_of(family: ExportedFamily) -> Sequence[ExportLoss]:
    kinds = {field.part.type for item in family.items for field in item.fields}
    if "ordering" in kinds:
        return [ExportLoss(family.item, "", "it has no orderings", is_refusal=True)]
    if "vector" in kinds:
        return [ExportLoss(family.item, "answer", "brackets can't be typed")]
    return []


def stems_of(quiz: ExportedQuiz, advance: Callable[[], None]) -> bytes:
    lines = []
    for item in quiz.items():
        lines.append(f"{item.name} {item.variant.stem.plain}")
        advance()
    if quiz.name == "broken":
        raise EngineError("the writer failed")
    return "\n".join([quiz.title, *lines]).encode()


@pytest.fixture(autouse=True)
def plain_format(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module = ModuleType("engine.export.formats.plain")
    module.FORMAT = QuizFormat("plain", "Plain stems", ".txt", losses_of, stems_of)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(formats, "FORMATS", {**formats.FORMATS, "plain": "plain"})
    from engine.commands.export.quiz import quiz

    # the choices are read once
    for parameter in quiz.params:
        vars(parameter.type).pop("choices", None)
    yield
    for parameter in quiz.params:
        vars(parameter.type).pop("choices", None)


def test_a_bank_of_variants_is_written_and_said(grade) -> None:
    said = grade("export", "quiz", "plain", "softmax-ratio", "--variants", "3", "--out", "q.txt")
    assert said.code == 0
    assert said.out == "1 question with 3 variants for Plain stems: q.txt\n"
    first = Path("q.txt").read_bytes()
    assert first.count(b"softmax-ratio-00") == 3
    grade("export", "quiz", "plain", "softmax-ratio", "--variants", "3", "--out", "again.txt")
    assert Path("again.txt").read_bytes() == first
    grade("export", "quiz", "plain", "softmax-ratio", "--variants", "3", "--seed", "50", "--out", "other.txt")
    assert Path("other.txt").read_bytes() != first


def test_what_is_lost_is_listed_before_it_is_written(grade) -> None:
    said = grade("export", "quiz", "plain", "softmax-weights", "--out", "q.txt")
    assert said.code == 0
    assert said.out.startswith("What Plain stems can't carry:\n")
    assert "softmax-weights  answer  brackets can't be typed" in said.out


def test_an_item_that_cant_be_carried_stops_it_unless_left_out(grade) -> None:
    names = ["greedy-trace-order", "softmax", "scale-symbol"]
    said = grade("export", "quiz", "plain", *names, "--out", "q.txt")
    assert said.code == 2 and not Path("q.txt").exists()
    assert "error: Plain stems can't carry greedy-trace-order and softmax" in said.err
    assert "a program" in said.err and "--leave-out" in said.err
    said = grade("export", "quiz", "plain", *names, "--leave-out", "--out", "q.txt")
    assert said.code == 0 and "left out: it has no orderings" in said.out
    assert b"scale-symbol-001" in Path("q.txt").read_bytes()
    said = grade("export", "quiz", "plain", "softmax", "--leave-out", "--out", "none.txt")
    assert said.code == 2 and "can carry none of these items" in said.err and not Path("none.txt").exists()
    # No other format has programs either; but another may have orderings.
    assert "softmax: it asks for a program" in said.err and "grade start" in said.err
    assert "another format" not in said.err and "--leave-out" not in said.err
    said = grade("export", "quiz", "plain", "greedy-trace-order", "--out", "none.txt")
    assert said.code == 2 and "next: choose another format\n" in said.err
    said = grade("export", "quiz", "plain", "softmax", "scale-symbol", "--out", "none.txt")
    assert said.code == 2 and "next: export the others with --leave-out\n" in said.err


def test_fields_that_lose_the_same_share_a_line(grade) -> None:
    said = grade("export", "quiz", "qti3", "full-attention-pass", "--out", "q.zip")
    assert said.code == 0
    lines = [line for line in said.out.splitlines() if line.startswith("full-attention-pass")]
    assert len(lines) == len({line.split("  ")[-1] for line in lines}), "each loss is said once"
    assert sum("  e, alpha, a, o  " in line for line in lines) == 2


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["quiz", "moodel", "softmax-ratio"], "Did you mean moodle?"),
        (["qti3", "softmax-ratio"], "grade export quiz qti3 ITEM…"),
        (["gift"], "grade export quiz gift ITEM…"),
        (["moodle", "softmax-ratio"], "grade export quiz moodle ITEM…"),
    ],
)
def test_a_slip_in_the_format_gets_the_call_that_is_meant(grade, arguments: list[str], what: str) -> None:
    said = grade("export", *arguments, "--out", "q.xml")
    assert said.code == 2 and what in said.err and not Path("q.xml").exists()


def test_a_format_may_be_written_in_capitals(grade) -> None:
    said = grade("export", "quiz", "QTI3", "softmax-ratio", "--out", "q.zip")
    assert said.code == 0 and "for QTI 3.0: q.zip" in said.out


def test_json_says_the_same(grade) -> None:
    said = grade(
        "export", "quiz", "plain", "softmax-weights", "softmax", "--leave-out", "--variants", "2", "--json",
        "--out", "q.txt",
    )  # fmt: skip
    document = json.loads(said.out)
    assert document["items"] == {"softmax-weights": 2} and document["format"] == "plain"
    assert [(loss["item"], loss["left_out"]) for loss in document["losses"]] == [
        ("softmax", True),
        ("softmax-weights", False),
    ]


def test_an_item_with_few_variants_says_so(grade) -> None:
    said = grade("export", "quiz", "plain", "l16-ex2-greedy-vs-beam", "--variants", "5", "--out", "q.txt")
    assert said.code == 0 and "note: l16-ex2-greedy-vs-beam has no more than 1 variant\n" in said.out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["plain"], "there is nothing to export"),
        (["plain", "softmax-ratio", "--blueprint", "l16"], "can't be named together"),
        (["plain", "softmx-ratio"], "softmx-ratio"),
        (["plain", "--blueprint", "no-such"], "no-such"),
        (["nothing", "softmax-ratio"], "nothing"),
        (["plain", "softmax-ratio", "--variants", "0"], "--variants"),
    ],
)
def test_what_cant_be_asked_for_is_refused(grade, arguments: list[str], what: str) -> None:
    said = grade("export", "quiz", *arguments, "--out", "q.txt")
    assert said.code == 2 and what in said.err and "Traceback" not in said.err
    assert not Path("q.txt").exists()


def test_nothing_is_half_written(grade) -> None:
    Path("broken").write_text("before", encoding="utf-8")
    said = grade("export", "quiz", "plain", "softmax-ratio", "--out", "broken")
    assert said.code == 3 and Path("broken").read_text(encoding="utf-8") == "before"
    said = grade("export", "quiz", "plain", "softmax-ratio", "--out", "none/q.txt")
    assert said.code == 2 and "the quiz can't be written" in said.err
    assert [path.name for path in Path().iterdir()] == ["broken"]


def test_what_is_no_file_is_left_alone_and_a_link_is_followed(grade) -> None:
    os.mkfifo("pipe")
    for out, reason in (("pipe", "it isn't a regular file"), ("-", "it stands for standard output")):
        said = grade("export", "quiz", "plain", "softmax-ratio", "--out", out)
        assert said.code == 2 and f"got: {reason}" in said.err and said.out == "", "before anything is drawn"
    Path("shared").mkdir()
    Path("link.txt").symlink_to("shared/q.txt")
    assert grade("export", "quiz", "plain", "softmax-ratio", "--out", "link.txt").code == 0
    assert Path("link.txt").is_symlink() and b"softmax-ratio-001" in Path("shared/q.txt").read_bytes()
    assert sorted(path.name for path in Path().iterdir()) == ["link.txt", "pipe", "shared"]


def test_the_quiz_is_named_after_the_file(grade) -> None:
    for out in ("Week 3.txt", "week-3.v2.txt"):
        assert grade("export", "quiz", "plain", "softmax-ratio", "--out", out).code == 0
    assert grade("export", "quiz", "olx", "softmax-ratio", "--out", "week-3.tar.gz").code == 0
    with tarfile.open("week-3.tar.gz") as archive:
        assert b'course="week-3"' in archive.extractfile("course/course.xml").read()


def test_a_course_draws_its_own_numbers_and_logs_the_export(grade) -> None:
    Course.init(Path("c"), "Deep Learning")
    grade("export", "quiz", "plain", "softmax-ratio", "--out", "open.txt")
    said = grade("export", "quiz", "plain", "softmax-ratio", "--course", "c", "--out", "ours.txt")
    assert said.code == 0
    ours, other = Path("ours.txt").read_text("utf-8"), Path("open.txt").read_text("utf-8")
    with open_store(Path("c/.softmark/store.db")) as store:
        assert [(entry.action, entry.subject) for _, entry in store.audit.newest(9)] == [
            ("export.quiz", "Questions for Plain stems")
        ]
    assert ours.startswith("Deep Learning\n") and ours.splitlines()[1] != other.splitlines()[1]
    said = grade(
        "export", "quiz", "plain", "--blueprint", "l16", "--course", "c", "--leave-out", "--out", "l.txt"
    )
    assert said.code == 0 and Path("l.txt").exists()
