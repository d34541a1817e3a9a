"""QTI 1.2: what others write for Canvas marks here as in Canvas; questions of all its types are read."""

from __future__ import annotations

import io
import itertools
import os
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import pytest
from qti_package_maker.package_interface import QTIPackageInterface
from text2qti.config import Config
from text2qti.qti import QTI
from text2qti.quiz import Quiz

from engine.authoring.importing.import_file import import_file
from engine.authoring.importing.item_drafts import ImportReport
from engine.errors import ExchangeError
from engine.grading import grade_answers
from engine.items.bank import builtin_bank
from engine.model import Mode, Response, Variant
from tests.oracles.canvas_rules import CanvasQuestion, Entered, mark_canvas, read_canvas_package
from tests.unit.importing.files_read import Importing
from tests.unit.importing.round_trips import again, close

BANK = builtin_bank()


def marked(variant: Variant, text: str, part: str = "") -> tuple[float, str]:
    """Return our mark as a share (0 for an answer that we refuse), and what is said."""
    name = part or variant.parts[0].id
    report = grade_answers(variant, Response({name: text}), mode=Mode.PRACTICE, student=None)
    said = " ".join([*(c.message for c in report.checks), *(d.message for d in report.diagnosis)])
    return (report.score or 0) / variant.points, said


def letters(variant: Variant, texts: list[str]) -> str:
    return ", ".join(o.id for o in variant.parts[0].options if close(o.text.plain) in texts)


# --- text2qti ---

TEXT = """\
Quiz title: Softmax

GROUP
pick: 1
points per question: 2

Title: Sums
1. What is $2+3$?
... It is a sum.
+ Yes.
- No.
a) 6
... One too many.
*b) 5
c) 4

Title: Weights
2. Which weight?
=   [0.265, 0.275]

END_GROUP

Title: Several
3. Which ones?
[*] rows sum to 1
... These do.
[ ] columns sum to 1
[*] all are positive
[ ] all are equal
... Only for equal scores.

Title: Names
4. Its name?
*   softmax
*   The softmax function

Title: Whole
5. How many?
=   [7, 7]

Title: Words
6. Why?
____

Text title: Read
Text: Something to read.
"""


@pytest.fixture(scope="module")
def theirs() -> bytes:
    return QTI(Quiz(TEXT, config=Config())).zip_bytes()


def questions(data: bytes) -> dict[str, CanvasQuestion]:
    """Return the questions as Canvas's importer reads them; it drops texts in between."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(buffer, "w") as after:
        for name in before.namelist():
            text = before.read(name).decode()
            while (at := text.find("text_only_question")) >= 0:
                start, end = text.rfind("<item ", 0, at), text.find("</item>", at) + len("</item>")
                text = text[:start] + text[end:]
            after.writestr(name, text)
    return {question.title: question for question in read_canvas_package(buffer.getvalue()).questions}


def test_what_text2qti_writes_marks_as_in_canvas(importing: Importing, theirs: bytes) -> None:
    report = importing(theirs, "quiz.zip")
    assert (report.format, report.faults) == ("canvas", ())
    assert [skip.type for skip in report.skipped] == ["essay_question", "text_only_question"]
    assert all(skip.reason and skip.next_step for skip in report.skipped)
    there = questions(theirs)
    variants = {item.name: again(item.path) for item in report.items}
    assert list(variants) == ["Sums", "Weights", "Several", "Names", "Whole"]
    compared = 0
    for name, variant in variants.items():
        for entered, text in answers(there[name], variant):
            compared += 1
            wanted = mark_canvas(there[name], entered)
            assert marked(variant, text)[0] == pytest.approx(float(wanted or 0)), (name, text)
    assert compared > 40
    assert [variant.points for variant in variants.values()] == [2, 2, 1, 1, 1]
    for item in report.items:
        assert item.notes == (), item.name


def answers(question: CanvasQuestion, variant: Variant) -> list[tuple[Entered, str]]:
    """Return answers as Canvas's page sends them, each with what is typed here."""
    options = {
        answer.id: close(answer.text.replace("<p>", "").replace("</p>", "")) for answer in question.answers
    }
    if question.type == "multiple_choice_question":
        return [(name, letters(variant, [text])) for name, text in options.items()]
    if question.type == "multiple_answers_question":
        subsets = [s for size in range(1, 5) for s in itertools.combinations(options, size)]
        return [(set(names), letters(variant, [options[n] for n in names])) for names in subsets]
    texts = ["0.27", "0.265", "0.275", "0.2649", "0.2751", "7", "7.0", "6.9", "7.1", "8", "-7", "softmax",
             "The softmax function", "SOFTMAX", "soft", "max"]  # fmt: skip
    return [(text, text) for text in texts]


def test_feedback_goes_where_canvas_shows_it(importing: Importing, theirs: bytes) -> None:
    variants = {item.name: again(item.path) for item in importing(theirs, "quiz.zip").items}
    sums, several = variants["Sums"], variants["Several"]
    assert sums.solution is not None and sums.solution.plain == "It is a sum."
    said = {text: marked(sums, letters(sums, [text]))[1] for text in ("6", "5", "4")}
    assert ["Yes." in said["5"], "One too many." in said["6"], "No." in said["4"]] == [True] * 3
    assert not any("One too many." in said[text] for text in ("5", "4"))
    assert {close(o.text.plain): o.feedback for o in several.parts[0].options if o.feedback} == {
        "rowssumto1": "These do.", "allareequal": "Only for equal scores."
    }  # fmt: skip
    assert "$2+3$" in sums.stem.latex


# --- qti-package-maker ---


@pytest.mark.parametrize(
    ("engine", "form"), [("canvas_qti_v1_2", "canvas"), ("blackboard_qti_v2_1", "qti21")]
)
def test_what_qti_package_maker_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    package = QTIPackageInterface("week-3", verbose=False, allow_mixed=True)
    package.add_item("MC", ("<p>Which <b>one</b>?</p>", ["rows", "columns", "neither"], "columns"))
    package.add_item("MA", ("<p>Which ones?</p>", ["aa", "bb", "cc", "dd"], ["aa", "cc"]))
    package.add_item("MATCH", ("<p>Match.</p>", ["query", "key", "value"], ["asks", "is asked", "is mixed"]))
    package.add_item("NUM", ("<p>How many?</p>", 2.5, 0.1, True))
    package.add_item("FIB", ("<p>Name it.</p>", ["softmax", "Soft max"]))
    if form == "canvas":
        blanks = {"a": ["encoder"], "b": ["decoder", "the decoder"]}
        package.add_item("MULTI_FIB", ("<p>First [a], then [b].</p>", blanks))
    package.save_package(engine, str(tmp_path / "quiz.zip"))
    report = import_file(tmp_path / "quiz.zip", tmp_path / "out", BANK)
    assert (report.format, report.faults, report.skipped) == (form, (), ())
    one, several, pairs, number, words, *rest = [again(item.path) for item in report.items]
    assert [marked(one, letters(one, [text]))[0] for text in ("rows", "columns", "neither")] == [0, 1, 0]
    assert marked(several, letters(several, ["aa", "cc"]))[0] == 1
    assert marked(several, letters(several, ["aa", "bb"]))[0] == 0
    part = pairs.parts[0]
    partners = {option.id: option.text.plain for option in part.options}
    assert {p.text.plain: partners[t] for p, t in zip(part.prompts, part.key_ids, strict=True)} == {
        "query": "asks", "key": "is asked", "value": "is mixed"
    }  # fmt: skip
    assert [marked(number, text)[0] for text in ("2.5", "2.4", "2.6", "2.39", "2.61")] == [1, 1, 1, 0, 0]
    assert [marked(words, text)[0] for text in ("softmax", "Soft max", "relu")] == [1, 1, 0]
    for variant in rest:
        assert [p.prompt.plain for p in variant.parts if p.prompt is not None] == [
            "First _____, then ….", "First …, then _____."
        ]  # fmt: skip
        assert marked(variant, "the decoder", "step2")[0] == 0.5
    assert os.listdir(tmp_path / "out")


# --- written by hand ---


def item(
    kind: str, fields: str, rules: str, text: str = "T", label: str = "question_type", more: str = ""
) -> str:
    return (
        f'<item ident="i1" title="An item"><itemmetadata><qtimetadata><qtimetadatafield><fieldlabel>{label}'
        f"</fieldlabel><fieldentry>{kind}</fieldentry></qtimetadatafield></qtimetadata></itemmetadata>"
        f'<presentation><material><mattext texttype="text/html">&lt;p&gt;{text}&lt;/p&gt;</mattext>'
        "</material>"
        f"{fields}</presentation><resprocessing><outcomes><decvar maxvalue='100' varname='SCORE'/></outcomes>"
        f"{rules}</resprocessing>{more}</item>"
    )


def quiz(*items: str) -> str:
    return (
        '<?xml version="1.0"?>\n<questestinterop xmlns="http://www.imsglobal.org/xsd/ims_qtiasiv1p2">\n'
        f'<assessment ident="a" title="Quiz"><section ident="root_section">\n{"".join(items)}\n'
        "</section></assessment></questestinterop>"
    )


def rule(condition: str, points: str = "100", action: str = "Set") -> str:
    return (
        f"<respcondition><conditionvar>{condition}</conditionvar>"
        f'<setvar action="{action}" varname="SCORE">{points}</setvar></respcondition>'
    )


def equal(text: str, name: str = "response1") -> str:
    return f'<varequal respident="{name}">{text}</varequal>'


def lid(options: Mapping[str, str], name: str = "response1", many: str = "Single", title: str = "") -> str:
    labels = "".join(
        f'<response_label ident="{n}"><material><mattext>{text}</mattext></material></response_label>'
        for n, text in options.items()
    )
    head = f"<material><mattext>{title}</mattext></material>" if title else ""
    return (
        f'<response_lid ident="{name}" rcardinality="{many}">{head}<render_choice>{labels}</render_choice>'
        "</response_lid>"
    )


TYPED = (
    '<response_str ident="response1"><render_fib fibtype="{}"><response_label ident="a"/></render_fib>'
    "</response_str>"
)
OPTIONS = {"x1": "rows", "x2": "columns", "x3": "neither"}


def only(report: ImportReport) -> Variant:
    assert (report.skipped, report.faults, report.format) == ((), (), "canvas")
    return again(report.items[0].path)


@pytest.mark.parametrize(
    ("condition", "right", "wrong"),
    [
        ("<or>" + equal("12") + "<and><vargte respident='response1'>11.5</vargte>"
         "<varlte respident='response1'>12.5</varlte></and></or>", ["12", "11.5", "12.5"], ["11.4", "12.6"]),
        ("<vargte respident='response1'>-2</vargte><varlte respident='response1'>3</varlte>",
         ["-2", "3", "0"], ["-2.1", "3.1"]),
        (equal("0.25"), ["0.25", ".25"], ["0.26", "0.24"]),
    ],
)  # fmt: skip
def test_numbers_are_right_where_they_were(
    importing: Importing, condition: str, right: list[str], wrong: list[str]
) -> None:
    text = quiz(item("numerical_question", TYPED.format("Decimal"), rule(condition)))
    variant = only(importing(text, "q.xml"))
    assert [marked(variant, typed)[0] for typed in (*right, *wrong)] == [1] * len(right) + [0] * len(wrong)


def test_several_answers_of_common_cartridge_are_all_or_nothing(importing: Importing) -> None:
    both = f"<and>{equal('x1')}{equal('x2')}<not>{equal('x3')}</not></and>"
    text = quiz(
        item("cc.multiple_response.v0p1", lid(OPTIONS, many="Multiple"), rule(both), label="cc_profile")
    )
    variant = only(importing(text, "q.xml"))
    picks = (["rows"], ["rows", "columns"], ["rows", "neither"])
    assert [marked(variant, letters(variant, p))[0] for p in picks] == [0, 1, 0]


def test_shares_of_options_without_a_stated_type(importing: Importing) -> None:
    rules = rule(equal("x1"), "50", "Add") + rule(equal("x2"), "50", "Add") + rule(equal("x3"), "-50", "Add")
    text = quiz(item("", lid(OPTIONS, many="Multiple"), rules, label="other"))
    variant = only(importing(text, "q.xml"))
    picks = (["rows"], ["rows", "columns"], ["rows", "neither"], ["rows", "columns", "neither"])
    assert [marked(variant, letters(variant, p))[0] for p in picks] == [0.5, 1, 0, 0.5]


def test_blanks_and_dropdowns_stand_in_their_sentence(importing: Importing) -> None:
    blanks = lid({"y1": "3", "y2": "3.0", "y3": "three"}, "response_n", title="n") + lid(
        {"z1": "0.4", "z2": ".4", "z3": "0.5", "z4": ".5", "z5": "0.6"}, "response_w", title="w"
    )
    rules = rule(equal("y1", "response_n"), "50", "Add") + rule(equal("z1", "response_w"), "50", "Add")
    first = item("fill_in_multiple_blanks_question", blanks, rules, "It has [n] heads of weight [w].")
    fields = lid({"q1": "rows", "q2": "columns"}, "response_o", title="o")
    second = item("multiple_dropdowns_question", fields, rule(equal("q2", "response_o")), "Over its [o].")
    report = importing(quiz(first, second), "q.xml")
    assert [(skip.name, skip.reason) for skip in report.skipped] == []
    text, over = [again(entry.path) for entry in report.items]
    assert [part.type for part in (*text.parts, *over.parts)] == ["token", "number", "single_choice"]
    assert [p.prompt.plain for p in text.parts if p.prompt is not None][
        1
    ] == "It has … heads of weight _____."
    assert [marked(text, typed, "step1")[0] for typed in ("3", "Three", "four")] == [0.5, 0.5, 0]
    # numbers that lie side by side are an interval
    assert [marked(text, typed, "step2")[0] for typed in ("0.4", "0.6", "0.45", "0.7")] == [0.5, 0.5, 0.5, 0]
    assert marked(over, letters(over, ["columns"]))[0] == 1


def test_pairs_with_a_surplus_and_formulas(importing: Importing) -> None:
    options = {"t1": "asks", "t2": "is asked", "t3": "is mixed"}
    fields = "".join(
        lid(options, f"response_{n}", title=title) for n, title in (("1", "query"), ("2", "key"))
    )
    rules = rule(equal("t1", "response_1"), "50", "Add") + rule(equal("t2", "response_2"), "50", "Add")
    image = (
        "&lt;img class=&quot;equation_image&quot; src=&quot;/equation_images/q&quot; "
        "data-equation-content=&quot;\\frac{q}{k}&quot; alt=&quot;LaTeX: x&quot;&gt;"
    )
    variant = only(importing(quiz(item("matching_question", fields, rules, f"Match {image}.")), "q.xml"))
    part = variant.parts[0]
    assert (len(part.prompts), len(part.options)) == (2, 3)
    assert variant.stem.latex == "Match $\\frac{q}{k}$."
    assert marked(variant, f"1-{part.key_ids[0]}")[0] == Fraction(1, 2)


@pytest.mark.parametrize(
    ("kind", "fields", "rules", "reason"),
    [
        ("file_upload_question", "", "", "a file is handed in"),
        ("calculated_question", TYPED.format("Decimal"), "",
         "its numbers are drawn by Canvas, and its key is a formula of Canvas's"),
        ("essay_question", TYPED.format("String"), "", "a free text is marked by a person"),
        ("text_only_question", "", "", "it only shows a text and asks nothing"),
        ("categorization_question", lid(OPTIONS), "", "the type 'categorization_question' isn't known here"),
        ("multiple_choice_question", "", "", "it has no field for an answer"),
        ("multiple_choice_question", lid(OPTIONS), rule("<varsubset>x1</varsubset>"),
         "its rules hold <varsubset>, which isn't carried out here"),
        ("matching_question", lid(OPTIONS), rule(equal("nobody")), "its pairs earn nothing one by one"),
        ("multiple_choice_question", "".join(lid(OPTIONS, f"r{n}") for n in range(61)), "",
         "it has over 60 fields"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_is_skipped_with_its_reason(
    importing: Importing, kind: str, fields: str, rules: str, reason: str
) -> None:
    good = item("multiple_choice_question", lid(OPTIONS), rule(equal("x2")))
    report = importing(quiz(item(kind, fields, rules), good), "q.xml")
    (skip,) = report.skipped
    assert (skip.reason, skip.place.line) == (reason, 4)
    assert skip.next_step
    assert len(report.items) == 1


def test_banks_of_a_course_are_read_with_their_titles(importing: Importing) -> None:
    good = item("multiple_choice_question", lid(OPTIONS), rule(equal("x2")))
    bank = quiz(good).replace('<assessment ident="a" title="Quiz">', '<objectbank ident="b"><qtimetadata>'
        "<qtimetadatafield><fieldlabel>bank_title</fieldlabel><fieldentry>Attention</fieldentry>"
        "</qtimetadatafield></qtimetadata>").replace("</assessment>", "</objectbank>")  # fmt: skip
    manifest = (
        '<manifest xmlns="http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"><resources>'
        '<resource identifier="r" type="associatedcontent/imscc_xmlv1p1/learning-application-resource" '
        'href="non_cc_assessments/b.xml.qti"/></resources></manifest>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("imsmanifest.xml", manifest)
        made.writestr("non_cc_assessments/b.xml.qti", bank)
    report = importing(out.getvalue(), "course.imscc")
    assert (report.format, len(report.items)) == ("canvas", 1)
    assert "topics: [attention]" in report.items[0].path.read_text()


def test_faults_are_shown_and_do_not_stop_the_others(importing: Importing) -> None:
    good = item("multiple_choice_question", lid(OPTIONS), rule(equal("x2")))
    nothing = item("multiple_choice_question", lid(OPTIONS), rule(equal("x9")))
    text = quiz(nothing, "\n", good)
    with pytest.raises(ExchangeError) as caught:
        importing(text, "q.xml")
    assert [(d.line, d.message) for d in caught.value.diagnostics] == [
        (4, "no option is right, so nobody could answer this question")
    ]
    report = importing(text, "q.xml", keep_going=True)
    assert (len(report.items), len(report.faults)) == (1, 1)
    bomb = text.replace("<questestinterop", '<!DOCTYPE q [<!ENTITY a "aaa">]><questestinterop', 1)
    with pytest.raises(ExchangeError, match="can't be declared"):
        importing(bomb, "q.xml")


def test_a_hostile_text_is_a_text(importing: Importing) -> None:
    nasty = "{{ 7*7 }} {% x %} $HOME &lt;script&gt;alert(1)&lt;/script&gt;"
    text = quiz(item("multiple_choice_question", lid(OPTIONS), rule(equal("x2")), nasty))
    report = importing(text.replace('title="An item"', 'title="../../etc/passwd"'), "q.xml")
    variant = again(report.items[0].path)
    assert report.items[0].path.parent.name == "out"
    assert "<script" not in variant.stem.html and "49" not in variant.stem.plain
    assert "a script" in report.items[0].notes[0].message
