"""Every reader of files that people bring takes any bytes: a value or its own kind of error comes out."""

from __future__ import annotations

import ast
import contextlib
import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.authoring.importing.canvas_qti import read_canvas
from engine.authoring.importing.foreign_question import QuestionFile, decode_source, read_source
from engine.authoring.importing.gift import read_gift
from engine.authoring.importing.import_file import read_packed
from engine.authoring.importing.item_drafts import to_spec
from engine.authoring.importing.moodle_xml import read_moodle
from engine.authoring.importing.olx_course import read_olx
from engine.authoring.importing.qti3 import read_qti3
from engine.authoring.importing.question_texts import UnfitError
from engine.course.course import read_secret, read_settings
from engine.course.people import read_staff
from engine.course.roster import read_roster
from engine.errors import IntakeError, SoftmarkError
from engine.intake import collect
from engine.intake.answer_rows import read_table
from engine.intake.assignment_notebook import read_assignment
from engine.intake.code_files import read_code_file, read_module, read_submission
from engine.intake.download_entries import read_folder
from engine.intake.layouts.gradescope import read_ruby_yaml
from engine.intake.notebook import read_cells
from engine.intake.row_hand_ins import read_class_yaml
from engine.intake.unpack import read_source as read_archive
from engine.intake.uploads import read_typed, read_upload
from engine.intake.workbook import read_workbook
from engine.marks.gradebooks.fill import read_sheet
from engine.marks.manual import read_marks
from engine.marks.marking_table import read_marking
from engine.marks.rubric_marking import FieldProgress, RubricMarking
from engine.pages.feedback import read_receipts
from engine.quiz.blueprint import read_blueprint
from engine.quiz.quiz_file import read_filled
from engine.runs.gradescope import read_settings as read_autograder_settings
from engine.text.files import read_bounded, read_bytes, read_hand_in, read_text
from engine.text.tables import read_delimited
from engine.text.yaml import read_yaml
from tests.assignment_notebooks import exported
from tests.unit.importing.round_trips import drawn, exported_file, family

ROOT = Path(__file__).parents[2]


def packed() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("ada/softmax.py", "def softmax(x):\n    return x\n")
        made.writestr("bob/week.yaml", "quiz: week-1\n")
    return out.getvalue()


def content_package(method: int) -> bytes:
    resource = b'<resource identifier="i" type="imsqti_item_xmlv3p0" href="i.xml"/>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr("imsmanifest.xml", b"<manifest><resources>" + resource + b"</resources></manifest>")
        made.writestr("i.xml", ITEM)
    return out.getvalue()


def tarred(form: int, mode: str = "w") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as made:  # type: ignore[call-overload]
        for name in ("ada/softmax.py", "bob/" + "long" * 20 + ".py"):
            info = tarfile.TarInfo(name)
            info.size = 4
            made.addfile(info, io.BytesIO(b"x=1\n"))
    return out.getvalue()


def workbook() -> bytes:
    from openpyxl import Workbook

    book = Workbook()
    for row in (["id", "1", "2"], ["ada", 0.5, "b"], ["bob", True, None]):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


NOTEBOOK = {
    "cells": [
        {"cell_type": "code", "source": ["%matplotlib inline\n", "def softmax(x):\n", "    return x\n"]}
    ],
    "metadata": {"kernelspec": {"language": "python"}, "language_info": {"name": "python"}},
    "nbformat": 4,
    "worksheets": [{"cells": [{"cell_type": "code", "input": "x = 1"}]}],
}
TABLE = b'id,name,email,1,2,quiz\nada,Ada L,a@x.org,"b, c",0.5,week-1\nbob,\'=1,b@x.org,a,1,week-1\n'
XML = (
    b'<?xml version="1.0"?><quiz><question type="multichoice"><name><text>n</text></name>'
    b'<questiontext format="html"><text><![CDATA[<b>t</b> $x$]]></text></questiontext>'
    b'<answer fraction="100"><text>a</text></answer><answer fraction="0"><text>b</text></answer></question>'
    b'<question type="numerical"><name><text>n</text></name><questiontext><text>1 + 1</text></questiontext>'
    b'<answer fraction="100"><text>2</text><tolerance>0</tolerance></answer></question>'
    b'<question type="cloze"><name><text>n</text></name><questiontext><text>1 {1:NUMERICAL:=2:0.1#y~%0%3#n} '
    b'{2:MCV:=a~b\\}} {SA:=x}</text></questiontext></question><question type="ordering"><name><text>n</text>'
    b"</name><questiontext><text>o</text></questiontext><gradingtype>ABS</gradingtype><answer><text>a</text>"
    b"</answer><answer><text>b</text></answer></question></quiz>"
)
ITEM = (
    b'<?xml version="1.0"?><qti-assessment-item identifier="i" title="t" tool-name="Softmark">'
    b'<qti-response-declaration identifier="RESPONSE_1" cardinality="single" base-type="float">'
    b"<qti-correct-response><qti-value>2</qti-value></qti-correct-response></qti-response-declaration>"
    b'<qti-response-declaration identifier="RESPONSE_2" cardinality="multiple" base-type="identifier">'
    b"<qti-correct-response><qti-value>a</qti-value></qti-correct-response>"
    b'<qti-mapping lower-bound="0"><qti-map-entry map-key="a" mapped-value="1"/></qti-mapping>'
    b'</qti-response-declaration><qti-outcome-declaration identifier="SCORE" base-type="float"/>'
    b'<qti-item-body><p>1 + 1</p><p><qti-text-entry-interaction response-identifier="RESPONSE_1"/></p>'
    b'<qti-choice-interaction response-identifier="RESPONSE_2"><qti-simple-choice identifier="a">x'
    b'</qti-simple-choice><qti-simple-choice identifier="b">y</qti-simple-choice></qti-choice-interaction>'
    b"</qti-item-body><qti-response-processing><qti-response-condition><qti-response-if><qti-and><qti-gte>"
    b'<qti-variable identifier="RESPONSE_1"/><qti-base-value base-type="float">1</qti-base-value></qti-gte>'
    b'<qti-lte><qti-variable identifier="RESPONSE_1"/><qti-base-value base-type="float">3</qti-base-value>'
    b'</qti-lte></qti-and><qti-set-outcome-value identifier="SCORE"><qti-sum><qti-map-response '
    b'identifier="RESPONSE_2"/><qti-base-value base-type="float">1</qti-base-value></qti-sum>'
    b"</qti-set-outcome-value></qti-response-if></qti-response-condition></qti-response-processing>"
    b"</qti-assessment-item>"
)
GIFT = (
    b"// [tag:a]\n$CATEGORY: c/d\n\n::n::[html]text \\{x\\} {=a ~%50%b#no ####all}\n\n"
    b"q {#1.5:0.1}\n\nm {=a -> b =c -> d}\n"
)
QUIZ = (
    b"quiz: week-1\nstudent: ada\nquestions:\n- number: 1\n  answer: b\n"
    b"- number: '2'\n  answer: {a: 1, b: [2]}\n"
)
CLASS = b"quiz: week-1\nada: {1: b, softmax: [0.3, 0.7]}\nbob:\n- {1: c}\n"
COURSE = b"title: x\nmode: marks\npolicies:\n  timezone: UTC\n  late: {grace: 1h}\n"
LISTING = (
    b":submission_1:\n  :submitters:\n  - :name: Ada\n    :sid: '1'\n  :created_at: 2026-03-01 10:00:00 Z\n"
)
BLUEPRINT = b"title: t\nquestions:\n- item: softmax-weights\n"


@dataclass(frozen=True)
class Case:
    """A reader, the name of a file for it, valid ones, and the call."""

    reader: Callable[..., Any]
    name: str
    seeds: tuple[bytes, ...]
    read: Callable[[Path], Any]

    def __str__(self) -> str:
        return f"{self.reader.__module__}.{self.reader.__name__}"


def archive(path: Path) -> object:
    with tempfile.TemporaryDirectory() as work:
        return read_archive(path, Path(work))


def whole(path: Path) -> object:
    """Take in a class in which this file is one student's, and see that the other's is there."""
    good = path.parent / "zoe" / "softmax.py"
    good.parent.mkdir(exist_ok=True)
    good.write_text("def softmax(x):\n    return x\n")
    with tempfile.TemporaryDirectory() as work:
        found = collect(path.parent, Path(work), items=["softmax"])
    assert "zoe/softmax.py" in {file.name for student in found.students for file in student.files}
    assert not [p for p in found.problems if "fault of Softmark" in p.message], found.problems
    return found


def cells(path: Path) -> Any:
    return read_cells(path.read_text(errors="surrogateescape"), "a.ipynb")


def assignment(path: Path) -> Any:
    notebook = read_assignment(path.read_text(errors="surrogateescape"), "a.ipynb")
    if notebook is None:
        return None
    found = []
    for item in notebook.items:
        notebook.taken_text(item.item)
        found.append(notebook.code(item.item) if item.is_code else notebook.answers(item.item))
    return found


def uploaded(path: Path) -> object:
    with tempfile.TemporaryDirectory() as work:
        return read_upload([(path.name, path)], "softmax", Path(work))


def typed(path: Path) -> object:
    with tempfile.TemporaryDirectory() as work:
        return read_typed(path.read_text(errors="surrogateescape"), "typed.py", Path(work))


class NobodyToMark(RubricMarking):
    """A course without answers in words: a table is about none that it has."""

    def __init__(self) -> None:
        pass

    def fields(self) -> list[FieldProgress]:
        return []


def exchange(reader: Callable[..., Any]) -> Callable[[Path], Any]:
    return lambda path: drafts(reader(decode_source(path.read_bytes(), "q")))


def drafts(contents: QuestionFile) -> QuestionFile:
    """Draft the items of what was read: a text that can't be converted is a question that is left out."""
    for question in contents.questions:
        with contextlib.suppress(UnfitError):
            to_spec(question, "q").text("q")
    return contents


def nothing(*_: object) -> None:
    return None


# of each kind of field, alone and among others
EXPORTED = (
    "softmax-weights limiting-cases decoder-step-order greedy-path history-impact circularity bottleneck-why "
    "additive-params beam-survivors score-params-table"
)
FAMILIES = tuple(family(drawn(item)) for item in EXPORTED.split())
QTI21, CANVAS, COURSE_OLX = (exported_file(form, *FAMILIES) for form in ("qti21", "canvas", "olx"))
with zipfile.ZipFile(io.BytesIO(QTI21)) as of_qti21:
    OLD_ITEM = of_qti21.read("items/score-params-table-001.xml")
with zipfile.ZipFile(io.BytesIO(CANVAS)) as of_canvas:
    QUIZ_12 = of_canvas.read("quiz-assessment/quiz-assessment.xml")
with tarfile.open(fileobj=io.BytesIO(COURSE_OLX)) as of_course:
    PROBLEMS = tuple(
        of_course.extractfile(member).read()  # type: ignore[union-attr]
        for member in of_course.getmembers()
        if member.name.startswith("course/problem/")
    )
NB = json.dumps(NOTEBOOK).encode()
WEEK = json.dumps(exported("softmax", "softmax-weights", "l16-full-pass", "why-scaled-scores")).encode()
STAFF = b"id,name,email,role\nmia,Mia,mia@example.edu,marker\n"
MARKING = b"id,name,answer,spread,comment\n3f9a0c41d2be,Ada,because,1,good\n,,,1,\n"
CODE = b"# -*- coding: utf-8 -*-\nimport helpers\ndef softmax(x):\n    return x\n"
ARCHIVES = (
    packed(),
    tarred(tarfile.PAX_FORMAT),
    tarred(tarfile.GNU_FORMAT),
    tarred(tarfile.USTAR_FORMAT, "w:gz"),
)
CASES = [
    Case(read_code_file, "a.ipynb", (NB, WEEK), read_code_file),
    Case(read_cells, "a.ipynb", (NB, WEEK), cells),
    Case(read_assignment, "a.ipynb", (WEEK,), assignment),
    Case(read_code_file, "a.py", (CODE,), read_code_file),
    Case(read_submission, "a.py", (CODE, NB), lambda path: read_submission(path, "softmax")),
    Case(read_module, "a.py", (CODE,), lambda path: read_module("a", path)),
    Case(read_archive, "a.zip", ARCHIVES, archive),
    Case(collect, "ada/work.zip", ARCHIVES, lambda path: whole(path.parent)),
    Case(collect, "ada/a.ipynb", (NB,), lambda path: whole(path.parent)),
    Case(collect, "ada/softmax.py", (CODE,), lambda path: whole(path.parent)),
    Case(collect, "ada/week.yaml", (QUIZ, CLASS), lambda path: whole(path.parent)),
    Case(collect, "submission_metadata.yml", (LISTING,), whole),
    Case(collect, "answers.csv", (TABLE,), whole),
    Case(read_folder, "a/b.py", (CODE,), lambda path: read_folder(path.parent)),
    Case(read_bytes, "a", (CODE,), lambda path: read_bytes(path, 1000)),
    Case(read_hand_in, "a", (CODE,), read_hand_in),
    Case(read_text, "a", (CODE,), read_text),
    Case(read_bounded, "a", (CODE,), lambda path: read_bounded(path, 1000)),
    Case(read_table, "t.csv", (TABLE,), lambda path: read_table(path, "t.csv")),
    Case(read_workbook, "t.xlsx", (workbook(),), lambda path: read_workbook(path, "t.xlsx")),
    Case(read_delimited, "t.csv", (TABLE,), lambda p: read_delimited(p, noun="it", error=IntakeError)),
    Case(read_roster, "r.csv", (TABLE,), lambda path: (read_roster(path, tolerant=True), read_roster(path))),
    Case(read_sheet, "s.csv", (TABLE,), read_sheet),
    Case(read_staff, "staff.csv", (STAFF, TABLE), read_staff),
    Case(read_marking, "m.csv", (MARKING, TABLE), lambda path: read_marking(path, NobodyToMark())),
    Case(read_upload, "work.zip", ARCHIVES, uploaded),
    Case(read_upload, "softmax.py", (CODE,), uploaded),
    Case(read_typed, "typed.py", (CODE,), typed),
    Case(
        read_marks,
        "m.csv",
        (b"student,column,mark,why\nada,softmax,1,x\n",),
        lambda p: read_marks(p, nothing),
    ),
    Case(read_class_yaml, "c.yaml", (CLASS, QUIZ), lambda path: read_class_yaml(path, "c.yaml")),
    Case(read_filled, "q.yaml", (QUIZ,), read_filled),
    Case(read_ruby_yaml, "l.yml", (LISTING,), lambda path: read_ruby_yaml(path, "l.yml")),
    Case(read_yaml, "y.yaml", (QUIZ, CLASS, COURSE), read_yaml),
    Case(read_settings, "course.yaml", (COURSE,), read_settings),
    Case(read_blueprint, "b.yaml", (BLUEPRINT,), read_blueprint),
    Case(read_secret, "secret", (bytes(32),), read_secret),
    Case(read_autograder_settings, "s.json", (b'{"item": "softmax"}', NB), read_autograder_settings),
    Case(read_source, "q.xml", (XML,), read_source),
    Case(read_moodle, "q.xml", (XML,), exchange(read_moodle)),
    Case(read_qti3, "q.xml", (ITEM,), exchange(read_qti3)),
    Case(read_qti3, "q.xml", (OLD_ITEM,), exchange(read_qti3)),
    Case(read_canvas, "q.xml", (QUIZ_12,), exchange(read_canvas)),
    Case(read_olx, "q.xml", PROBLEMS, exchange(read_olx)),
    Case(
        read_packed,
        "q.zip",
        (*map(content_package, (0, 8)), QTI21, CANVAS, COURSE_OLX, gzip.decompress(COURSE_OLX)),
        lambda path: drafts(read_packed(path)[1]),
    ),
    Case(read_gift, "q.gift", (GIFT,), exchange(read_gift)),
    Case(read_receipts, "p.html", (b"<p>x</p>",), lambda p: read_receipts(p.read_text(errors="replace"))),
]

# Readers that get parts of what another one has read: texts, numerals, arguments of our own.
OF_PARTS = {
    "engine.text.watch.read_settled": "calls a reader that is given",
    "engine.authoring.importing.gift.read_field": "read_gift",
    "engine.authoring.importing.xml_tree.read_tree": "read_moodle, read_qti3, read_canvas, read_olx",
    "engine.authoring.importing.cloze_gaps.read_gaps": "read_moodle",
    "engine.authoring.importing.qti_package.read_package": "read_packed",
    "engine.authoring.importing.olx_course.read_course": "read_packed",
    "engine.authoring.importing.to_markdown.read_blocks": "tests/property/test_exchange_texts.py",
    "engine.authoring.importing.from_html.read_html": "tests/property/test_exchange_texts.py",
    "engine.authoring.importing.suggest_keys.read_value": "one number of a text",
    "engine.authoring.importing.foreign_question.read_decimal": "one number of a text",
    "engine.authoring.importing.foreign_question.read_share": "one number of a text",
    "engine.text.yaml.read_scalar": "read_yaml",
    "engine.course.course_files.read_course_file": "read_roster, read_staff, read_settings, read_blueprint",
    "engine.course.course_files.read_course_text": "read_course_file, of a temporary file",
    "engine.quiz.hand_in.read_answers": "answers of a quiz that was read: tests/unit/quiz",
}


def test_no_reader_is_left_out() -> None:
    known = {str(case) for case in CASES} | set(OF_PARTS)
    found = set()
    for part in (
        "intake",
        "authoring/importing",
        "course",
        "marks",
        "quiz",
        "items",
        "text",
        "runs",
        "pages",
    ):
        for path in ROOT.glob(f"engine/{part}/**/*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith("read_"):
                    found.add(f"{module}.{node.name}")
    assert len(found) > 25
    assert found - known == set(), "a reader that no text here tries"


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(
                [
                    "cells",
                    "worksheets",
                    "source",
                    "input",
                    "cell_type",
                    "metadata",
                    "kernelspec",
                    "language",
                    "name",
                    "language_info",
                    "quiz",
                    "student",
                    "questions",
                    "number",
                    "answer",
                    "title",
                    "policies",
                    "item",
                    ":submission_1",
                    ":submitters",
                    ":name",
                    ":created_at",
                ]
            ),
            inner,
            max_size=5,
        ),
    ),
    max_leaves=12,
)
TOKENS = st.sampled_from(
    [
        b"",
        b"\0",
        b"\xff",
        b"\xff\xfe",
        b"'",
        b'"',
        b"{",
        b"[",
        b"<",
        b"=",
        b"->",
        b"~",
        b"\n",
        b"\r",
        b"-1",
        b"1e999",
        b"9" * 30,
        b"\xed\xa0\x80",
        b"%s",
        b"&a",
        b"*a",
        b"!!x",
        b": ",
        b"- ",
        b",",
        b"\t",
        b"]]>",
        b"<!DOCTYPE x>",
    ]
)


@st.composite
def bytes_for(draw: st.DrawFn, case: Case) -> bytes:
    """Draw a valid file with some of it changed, or a structure of the reader's own words."""
    if draw(st.integers(0, 3)) == 0:
        value = draw(JSON)
        if case.name.endswith((".yaml", ".yml")):
            return yaml.safe_dump(value).encode("utf-8", "surrogatepass")
        return json.dumps(value).encode()
    data = bytearray(draw(st.sampled_from(case.seeds)))
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.integers(0, 4))
        if kind == 0:
            data[at : at + draw(st.integers(0, 40))] = b""
        elif kind == 1:
            data[at:at] = draw(TOKENS)
        elif kind == 2 and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == 3:
            data[at:at] = data[at : at + draw(st.integers(0, 600))]
        else:
            del data[at:]
    return bytes(data)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case}-{case.name}")
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_bytes_are_read_or_refused(case: Case, data: st.DataObject) -> None:
    content = data.draw(bytes_for(case))
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "in" / case.name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
        path.chmod(0o600)
        try:
            case.read(path)
        except SoftmarkError as error:
            assert error.what and "fault of Softmark" not in str(error)
