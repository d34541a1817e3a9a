"""Pages and tables: valid HTML, nothing foreign becomes markup, nothing secret gets out."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import html5lib
import pytest

from engine.errors import StoreError
from engine.hand_ins import IntakeProblem
from engine.marks.class_table import ClassTable, ColumnMark, ItemResult, StudentResults, TableColumn
from engine.marks.gradebooks.plain_csv import gradebook_csv, gradebook_json
from engine.model import (
    Check,
    ChoiceOption,
    Counterexample,
    Diagnosis,
    DrawnValue,
    FloatArray,
    GradeReport,
    KnownWrong,
    Mode,
    Outcome,
    Part,
    Quiz,
    QuizQuestion,
    RenderedText,
    ResultDisclosure,
    Variant,
    Verdict,
)
from engine.pages import feedback_page, quiz_page, summary_page, write_reports
from engine.pages.feedback import page_name
from engine.pages.render import OUTCOMES, VERDICTS, points, render
from engine.pages.summary import difficulty, mistakes
from engine.text.words import points_text

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "\x1b[31mred\x1b]8;;http://evil\x07",
    "\u202eevil\u2066txt",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "{{ 7*7 }} {% raw %}",
    "a\ud800b\0c",
    "&lt;b&gt; & '",
    "x" * 30_000,
]


def text(plain: str, html: str | None = None) -> RenderedText:
    return RenderedText(plain, f"<p>{plain}</p>" if html is None else html, plain)


def variant(item: str = "softmax-weights", **more) -> Variant:
    options = (
        ChoiceOption(
            "a", text("first option"), correct=True, feedback="SECRET-feedback", misconception="SECRET-m"
        ),
        ChoiceOption("b", text("second option"), value=FloatArray((1,), (0.987654,))),
    )
    part = Part("answer", "single_choice", 1.0, key_ids=("a",), options=options)
    return Variant("var-1", item, "ver-1", "Weights", text("The stem"), (part,), **more)


def report(
    outcome: Outcome = Outcome.RIGHT, score: float | None = 1.0, item: str = "softmax", **more
) -> GradeReport:
    fields = {"item_version": "ver-1", "max_score": 2.0, "mode": Mode.MARKS} | more
    return GradeReport(item=item, outcome=outcome, score=score, **fields)


def result(given: GradeReport | None = None, column: TableColumn | None = None, **more) -> ItemResult:
    given = given or report()
    return ItemResult(
        column or TableColumn("~", 0, given.item, "Softmax", given.max_score), given, "ab" * 32, NOW, **more
    )


def student(*items: ItemResult, name: str = "Ada Lovelace", **more) -> StudentResults:
    return StudentResults("ada", name, items, **more)


def parsed(page: str) -> ElementTree.Element:
    """Parse strictly: any parse error fails the test."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    return parser.parse(page)


def words(page: str) -> str:
    tree = parsed(page)
    return " ".join(" ".join(tree.find("body").itertext()).split())


def assert_harmless(page: str) -> None:
    tree = parsed(page)
    tags = {element.tag for element in tree.iter() if isinstance(element.tag, str)}
    assert not tags & {"script", "img", "svg", "iframe", "object", "embed", "form", "link", "base"}
    for element in tree.iter():
        for name, value in element.attrib.items():
            assert not name.startswith("on") and name != "style", "inline handlers and styles"
            assert not re.match(r"\s*(javascript|data|https?):", value), f"{name}={value}"
    bad = set(page) & {chr(c) for c in (*range(9), 11, 12, *range(14, 32), 0x7F, 0x202E, 0x2066, 0xD800)}
    assert not bad
    (policy,) = [
        m.get("content") for m in tree.iter("meta") if m.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy and "script" not in policy and "unsafe" not in policy


# --- feedback ---

FULL = report(
    Outcome.PARTIAL,
    1.25,
    checks=(
        Check("loads", Verdict.PASSED, 0, 0, "loaded"),
        Check("values", Verdict.FAILED, 0.25, 1, "3 of 8 inputs differ"),
        Check("shift", Verdict.SKIPPED, 0, 0.5, "values failed first"),
        Check("large", Verdict.TIMED_OUT, 0, 0.5, "call 17"),
    ),
    diagnosis=(Diagnosis("softmax-axis", "Your output is what the first axis gives."),),
    counterexample=Counterexample("softmax([[0, 1]])", "[[1, 1]]", "[[0.27, 0.73]]"),
    notes=("Marked with your own earlier value.",),
    tier="T2",
    variant="var-1",
    engine_version="9.9",
)


def test_a_page_says_everything_in_words() -> None:
    page = feedback_page(student(result(FULL, filename="softmax (1).py", attempts=3)), title="Deep Learning")
    shown = words(page)
    for sentence in (
        "Feedback for Ada Lovelace",
        "1.25 of 2 points",
        "partly right",
        "passed",
        "failed",
        "skipped",
        "took too long",
        "3 of 8 inputs differ",
        "Your output is what the first axis gives.",
        "softmax([[0, 1]])",
        "[[0.27, 0.73]]",
        "Marked with your own earlier value.",
        "sandbox tier T2",
        "Softmark 9.9",
        "ab" * 32,
        "Fri 27 Nov 2026, 12:30 UTC",
        "the best of 3 submissions",
        "softmax (1).py",
    ):
        assert sentence in shown
    assert_harmless(page)
    assert "softmax-axis" not in shown, "a student reads the sentence, not our id"


def test_every_verdict_and_outcome_has_words_and_a_sign() -> None:
    assert set(VERDICTS) == set(Verdict) and set(OUTCOMES) == set(Outcome)
    for table in (VERDICTS, OUTCOMES):
        assert len({named[1] for named in table.values()}) == len(table)
        assert all(sign and words for sign, words, _ in table.values())


def test_an_ungraded_item_is_no_zero() -> None:
    waiting = report(Outcome.UNGRADED, None, "sdpa", notes=("zygote gone",))
    shown = words(feedback_page(student(result(FULL), result(waiting, reason="zygote gone")), title="T"))
    assert "1.25 of 4 points so far" in shown and "– of 2 points" in shown
    assert "Not graded yet. The cause lies with the grading machine" in shown
    assert "zygote" not in shown, "machine details are for the instructor"


def test_what_cant_be_read_says_why() -> None:
    unread = report(Outcome.FORMAT_ERROR, None, notes=("`nan` isn't a number",))
    shown = words(feedback_page(student(result(unread)), title="T"))
    assert "costs no attempt" in shown and "`nan` isn't a number" in shown
    assert "0 of 2 points 2 of these points are for work that can't be read, which earns nothing." in shown
    by_hand = result(unread, mark=ColumnMark(None, 1.0, by_hand=True))
    for counts in (by_hand, result(unread, mark=ColumnMark(None, None, excused=True)), result(FULL)):
        assert "for work that can't be read" not in words(feedback_page(student(counts), title="T"))


def test_nobody_who_is_excused_is_told_to_type_it_again() -> None:
    message = "`nan` isn't a number\n  got: nan\n  next: type it again; this costs no attempt"
    unread = report(Outcome.FORMAT_ERROR, None, checks=(Check("answer", Verdict.FAILED, 0, 2, message),))
    asked = words(feedback_page(student(result(unread)), title="T"))
    assert "next: type it again" in asked and "so it wasn't graded and costs no attempt" in asked
    excused = words(
        feedback_page(student(result(unread, mark=ColumnMark(None, None, excused=True))), title="T")
    )
    assert "type it again" not in excused and "costs no attempt" not in excused
    assert "got: nan" in excused and "You are excused." in excused


def test_an_answer_is_shown_with_its_options_and_without_the_key() -> None:
    picked = result(report(item="q"), variant=variant(solution=text("SOLUTION")), answers={"answer": " (B) "})
    page = feedback_page(student(picked), title="T")
    assert "(b) second option The other option (a) first option" in words(page)
    assert "SECRET" not in page and "0.987654" not in page and "SOLUTION" not in page
    typed = result(report(item="q"), variant=variant(), answers={"answer": "b or c"})
    assert "b or c" in words(feedback_page(student(typed), title="T"))
    blank = result(report(item="q"), variant=variant())
    left = words(feedback_page(student(blank), title="T"))
    assert "(left blank) What there was to choose from (a) first option (b) second option" in left


def test_a_question_is_named_as_its_students_know_it() -> None:
    third = TableColumn("week-2", 3, "q", "Weights", 2.0)
    gone = TableColumn("week-2", 9, "r", "Scores", 2.0, is_asked=False)
    marked = (result(report(item="q"), third), result(report(item="r"), gone), result(FULL))
    page = feedback_page(student(*marked), title="T")
    shown = words(page)
    assert shown.count("Weights week-2, question 3") == 2, "in the list and above its result"
    assert shown.count("Scores week-2 ") == 2 and "question 9" not in shown
    assert_harmless(page)


def test_solutions_only_when_asked() -> None:
    given = student(result(report(item="q"), variant=variant(solution=text("SOLUTION"))))
    assert "SOLUTION" in feedback_page(given, title="T", solutions=True)


def test_errata_and_mathml_are_shown_as_markup() -> None:
    math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>α</mi></math>'
    noted = variant(notes=(text("F-01 note"),))
    noted = dataclasses.replace(noted, stem=text("stem", f"<p>Given {math}</p>"))
    page = feedback_page(student(result(report(item="q"), variant=noted)), title="T")
    assert math in page
    assert "Note: F-01 note" in words(page)
    parsed(page)


def test_practice_is_marked_as_practice() -> None:
    page = feedback_page(student(result(report(mode=Mode.PRACTICE))), title="T")
    assert "it doesn't count" in words(page)
    assert "it doesn't count" not in words(feedback_page(student(result()), title="T"))


def test_a_student_without_results() -> None:
    problem = IntakeProblem("ada/x.pdf", "this kind of file isn't graded", "hand in a .py file", "ada")
    shown = words(feedback_page(student(problems=(problem,)), title="T"))
    assert "Nothing was graded" in shown
    assert "ada/x.pdf : this kind of file isn't graded – hand in a .py file" in shown


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_in_every_field_of_a_feedback_page(evil: str) -> None:
    given = report(
        Outcome.PARTIAL,
        1.0,
        item=evil,
        item_version=evil,
        variant=evil,
        tier=evil,
        engine_version=evil,
        checks=(Check(evil, Verdict.FAILED, 0, 1, evil),),
        diagnosis=(Diagnosis(evil, evil),),
        counterexample=Counterexample(evil, evil, evil),
        notes=(evil,),
    )
    column = TableColumn(evil, 1, evil, evil, 2.0)
    items = (
        result(given, column, variant=variant(), answers={"answer": evil}, filename=evil, reason=evil),
        result(dataclasses.replace(given, outcome=Outcome.FORMAT_ERROR, score=None), column, reason=evil),
        result(dataclasses.replace(given, outcome=Outcome.UNGRADED, score=None), column, reason=evil),
    )
    problems = (IntakeProblem(evil, evil, evil, evil),)
    page = feedback_page(StudentResults(evil, evil, items, problems), title=evil)
    assert_harmless(page)
    if "<script>" in evil:
        assert page.count("&lt;script&gt;") >= 12
    parsed(feedback_page(StudentResults(evil, "", items, problems), title=evil))


def test_long_texts_are_cut() -> None:
    page = feedback_page(student(result(report(notes=("y" * 10**6,)))), title="T")
    assert len(page) < 60_000 and "more characters" in page


# --- gradebook ---


def table(*students: StudentResults) -> ClassTable:
    columns: dict[str, TableColumn] = {}
    for one in students:
        columns |= {item.column.id: item.column for item in one.items}
    return ClassTable("T", tuple(sorted(columns.values())), tuple(s.row() for s in students))


QUIZ_COLUMN = TableColumn("week-1", 2, "softmax-weights", "Weights", 1.0)


def some_class() -> ClassTable:
    right = result(report(Outcome.RIGHT, 2.0))
    quiz = result(report(Outcome.PARTIAL, 1 / 3, "softmax-weights", max_score=1.0), QUIZ_COLUMN)
    waiting = result(report(Outcome.UNGRADED, None))
    unread = result(report(Outcome.FORMAT_ERROR, None))
    return table(
        StudentResults("007", "Emmy", (quiz, right)),
        StudentResults("ada", "Ada", (waiting,)),
        StudentResults("bob", "Bob", (unread, quiz)),
        StudentResults("zoe", "Zoe"),
    )


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_the_gradebook_tells_missing_from_ungraded_from_zero() -> None:
    made = gradebook_csv(some_class())
    assert rows(made) == [
        ["student", "name", "week-1/softmax-weights", "softmax", "total"],
        ["007", "Emmy", "0.33", "2", "2.33"],
        ["ada", "Ada", "", "ungraded", "ungraded"],
        ["bob", "Bob", "0.33", "unreadable", "0.33"],
        ["zoe", "Zoe", "", "", ""],
    ]
    assert '"007"' in made and "\r\n" in made


@pytest.mark.parametrize("evil", HOSTILE)
def test_no_cell_becomes_a_formula(evil: str) -> None:
    column = TableColumn(evil, 1, evil, evil, 2.0)
    made = gradebook_csv(table(StudentResults(evil, evil, (result(report(item=evil), column),))))
    for row in rows(made):
        for cell in row:
            assert (
                cell[:1] not in {"=", "+", "-", "@", "\t", "\r"} and "\x1b" not in cell and "\n" not in cell
            )
    json.loads(gradebook_json(table(StudentResults(evil, evil, (result(report(item=evil), column),)))))


def test_the_json_gradebook_has_full_marks_and_outcomes() -> None:
    found = json.loads(gradebook_json(some_class()))
    assert found["max_total"] == 3 and [c["max_score"] for c in found["columns"]] == [1, 2]
    assert [s["total"] for s in found["students"]] == [2.33, None, 0.33, None]
    assert found["students"][1]["scores"] == {
        "softmax": {"outcome": "ungraded", "score": None, "misconceptions": []}
    }
    assert found["students"][0]["student"] == "007"


def test_a_table_of_practice_cant_be_taken_for_marks(tmp_path: Path) -> None:
    made = write_reports(tmp_path, [StudentResults("ada", "", (result(),))], title="T", practice=True)
    table_rows = rows(made.gradebook.read_text(encoding="utf-8"))
    assert [row[-1] for row in table_rows] == ["mode", "practice"]
    assert json.loads((tmp_path / "gradebook.json").read_text())["mode"] == "practice"
    assert "nothing here counts" in words(made.index.read_text(encoding="utf-8"))
    marks = write_reports(tmp_path, [StudentResults("ada", "", (result(),))], title="T")
    assert rows(marks.gradebook.read_text(encoding="utf-8"))[0][-1] == "total"
    assert json.loads((tmp_path / "gradebook.json").read_text())["mode"] == "marks"


# --- summary ---


def test_figures_of_items_by_hand() -> None:
    scores = [(Outcome.RIGHT, 2.0), (Outcome.PARTIAL, 1.0), (Outcome.WRONG, 0.0), (Outcome.UNGRADED, None)]
    made = table(*(StudentResults(str(n), "", (result(report(o, s)),)) for n, (o, s) in enumerate(scores)))
    (item,) = difficulty(made)
    assert (item.graded, item.right, item.partial, item.wrong, item.mean) == (3, 1, 1, 1, 50.0)


def test_the_hardest_item_comes_first_and_mistakes_by_number() -> None:
    def one(name: str, sdpa: float, ids: tuple[str, ...]) -> StudentResults:
        diagnosis = tuple(Diagnosis(i, i) for i in ids)
        return StudentResults(
            name,
            "",
            (
                result(report(Outcome.PARTIAL, 1.5, diagnosis=diagnosis)),
                result(report(Outcome.PARTIAL, sdpa, "sdpa", diagnosis=diagnosis)),
            ),
        )

    made = table(one("a", 0.5, ("x", "y")), one("b", 0.25, ("y",)), one("c", 0.0, ()))
    assert [item.column.item for item in difficulty(made)] == ["sdpa", "softmax"]
    found = mistakes(made, lambda item, mistake: "the sentence" if (item, mistake) == ("sdpa", "y") else "")
    assert [(m.id, m.students, m.sentence, m.columns) for m in found] == [
        ("y", 2, "the sentence", ("sdpa", "softmax")),
        ("x", 1, "", ("sdpa", "softmax")),
    ]


def test_the_summary_page_shows_class_ungraded_and_problems() -> None:
    made = some_class()
    page = summary_page(
        made,
        links={row.student: f"students/{page_name(row.student)}" for row in made.rows},
        problems=(IntakeProblem("../evil.py", "leads out of the archive", "rename it"),),
        ungraded_files=[
            ("kim", "kim/quiz.yaml", "a fault of Softmark"),
            ("ada", "ada/softmax.py", "no reason was given"),
        ],
        ignored=(".DS_Store",),
    )
    shown = words(page)
    for sentence in ("4 students", "3 handed something in", "2 not graded yet", "1 problems with files"):
        assert sentence in shown
    assert "../evil.py unknown leads out of the archive rename it" in shown
    assert "kim kim/quiz.yaml a fault of Softmark" in shown
    assert "ada softmax no reason was given" in shown
    assert 'href="students/007.html"' in page and ".DS_Store" in shown
    assert_harmless(page)
    cells = [td for td in parsed(page).iter("td") if td.find("span/span[@role='img']") is not None]
    assert {td.find("span/span").get("aria-label") for td in cells} == {
        "right",
        "partly right",
        "not graded yet",
        "unreadable",
    }


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_in_every_field_of_the_summary(evil: str) -> None:
    given = report(Outcome.UNGRADED, None, item=evil, diagnosis=(Diagnosis(evil, evil),))
    column = TableColumn(evil, 1, evil, evil, 2.0)
    made = table(StudentResults(evil, evil, (result(given, column, reason=evil),), in_roster=False))
    page = summary_page(
        dataclasses.replace(made, title=evil),
        links={evil: "students/x.html"},
        problems=(IntakeProblem(evil, evil, evil, evil),),
        ungraded_files=[(evil, evil, evil)],
        ignored=(evil,),
        sentence_of=lambda item, mistake: evil,
    )
    assert_harmless(page)


def test_an_empty_class_has_a_page() -> None:
    assert "0 students" in words(summary_page(ClassTable("T", (), ()), links={}))


# --- writing ---


def test_all_files_are_written_and_linked(tmp_path: Path) -> None:
    everyone = (
        StudentResults("007", "Emmy", (result(),)),
        StudentResults("../../etc/x", "", (result(),)),
        StudentResults("Ada", "", (result(report(Outcome.FORMAT_ERROR, None, max_score=0.0)),)),
        StudentResults("ada", "", ()),
    )
    made = write_reports(tmp_path / "out", iter(everyone), title="T")
    found = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*") if p.is_file()}
    pages = {f"students/{path.name}" for path in made.students.values()}
    assert len(pages) == 4 and found == pages | {"index.html", "gradebook.csv", "gradebook.json"}
    index = made.index.read_text(encoding="utf-8")
    hrefs = {a.get("href") for a in parsed(index).iter("a")} - {"#content"}
    assert hrefs == pages | {"gradebook.csv", "gradebook.json"}
    assert made.table.columns[0].max_score == 2.0, "a column's full marks come from a report that knows them"


def test_writing_again_replaces_and_leaves_no_parts(tmp_path: Path) -> None:
    for name in ("First", "Second"):
        write_reports(tmp_path, [StudentResults("ada", name, (result(),))], title="T")
    assert "Second" in (tmp_path / "students" / "ada.html").read_text()
    assert not list(tmp_path.rglob("*.part"))


def test_a_folder_that_cant_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="report can't be written") as caught:
        write_reports(tmp_path / "file", [StudentResults("ada")], title="T")
    assert "grades are in the store" in str(caught.value)


@pytest.mark.parametrize(
    "name", ["ada", "007", "Ada", "ADA", "a/b", "..", "", "con", "é", "e\u0301", "x" * 300, "a b"]
)
def test_page_names_are_safe(name: str) -> None:
    made = page_name(name)
    assert re.fullmatch(r"[a-z0-9-]+(_[0-9a-f]{8})?\.html", made) and len(made) < 80


def test_device_names_of_windows_are_never_a_page() -> None:
    assert (
        page_name("con") != "con.html" and page_name("lpt1") != "lpt1.html" and page_name("bob") == "bob.html"
    )


def test_page_names_differ_even_where_case_doesnt_count() -> None:
    names = ["ada", "Ada", "ADA", "a da", "a-da", "a/da", "é", "ö"]
    assert len({page_name(name).casefold() for name in names}) == len(names)


# --- the quiz ---


def some_quiz() -> Quiz:
    key = FloatArray((2,), (0.123456, 0.876544))
    wrong = KnownWrong("SECRET-known", "SECRET-why", FloatArray((1,), (0.55555,)), "SECRET-text")
    vector = Part(
        "answer",
        "vector",
        2.0,
        key=key,
        known_wrong=(wrong,),
        settings={"decimals": 3, "tolerance": "0.00077"},
    )
    cards = tuple(ChoiceOption(c, text(f"card {c}"), feedback="SECRET-card") for c in "ca")
    targets = tuple(ChoiceOption(c, text(f"target {c}"), correct=True) for c in "xy")
    prompts = tuple(ChoiceOption(c, text(f"prompt {c}"), feedback="SECRET-prompt") for c in "12")
    parts = (
        Part(
            "e",
            "number",
            1.0,
            prompt=text("Step one"),
            key=FloatArray((), (0.424242,)),
            settings={"decimals": 3},
        ),
        Part("order", "ordering", 1.0, prompt=text("Step two"), key_ids=("a", "c"), options=cards),
        Part("pairs", "matching", 1.0, key_ids=("y", "x"), options=targets, prompts=prompts),
        Part("name", "token", 1.0, key_ids=("SECRET-token",)),
    )
    values = {"w": DrawnValue((1,), ("SECRET-drawn",))}
    steps = Variant(
        "SECRET-id", "SECRET-item", "v", "Steps", text("Do it"), parts, values, {"w": "SECRET-expression"}
    )
    one = dataclasses.replace(
        steps, title="Vector", parts=(vector,), solution=text("SECRET-sol"), hints=(text("SECRET-h"),)
    )
    choice = variant(notes=(text("Erratum text"),))
    questions = tuple(QuizQuestion(n, v, v.points) for n, v in enumerate((one, choice, steps), 1))
    return Quiz("quiz-id-1", "week-1", "Week <1>", "007", questions)


def test_a_quiz_page_shows_stems_options_and_blanks() -> None:
    page = quiz_page(some_quiz(), student="Emmy Noether")
    shown = words(page)
    for sentence in (
        "Week <1>",
        "Emmy Noether",
        "3 questions, 7 points",
        "1. Vector 2 points",
        "(a) first option",
        "(b) second option",
        "Note: Erratum text",
        "Step one",
        "(c) card c (a) card a",
        "1 prompt 1 2 prompt 2",
        "(x) target x",
        "Quiz quiz-id-1",
    ):
        assert sentence in shown
    assert_harmless(page)


def test_a_quiz_page_has_no_key_nor_anything_that_leads_to_one() -> None:
    page = quiz_page(some_quiz())
    assert "SECRET" not in page
    for number_text in ("0.123456", "0.876544", "0.55555", "0.424242", "0.987654", "0.00077", "0.12", "0.42"):
        assert number_text not in page
    other = some_quiz()
    swapped = dataclasses.replace(
        other.questions[1].variant.parts[0],
        key_ids=("b",),
        options=tuple(
            dataclasses.replace(o, correct=not o.correct) for o in other.questions[1].variant.parts[0].options
        ),
    )
    question = dataclasses.replace(
        other.questions[1], variant=dataclasses.replace(other.questions[1].variant, parts=(swapped,))
    )
    turned = dataclasses.replace(other, questions=(other.questions[0], question, other.questions[2]))
    assert quiz_page(turned) == page, "which option is right changes nothing on the page"


@pytest.mark.parametrize("evil", HOSTILE)
def test_hostile_text_in_a_quiz(evil: str) -> None:
    quiz = some_quiz()
    question = dataclasses.replace(
        quiz.questions[0], variant=dataclasses.replace(quiz.questions[0].variant, title=evil)
    )
    assert_harmless(
        quiz_page(dataclasses.replace(quiz, id=evil, title=evil, student=evil, questions=(question,)))
    )


# --- small things ---


def test_numbers_as_people_read_them() -> None:
    assert [points_text(v).split()[0] for v in (0, 1, 1.5, 2 / 3, 10, 100, 0.004)] == [
        "0",
        "1",
        "1.5",
        "0.67",
        "10",
        "100",
        "0",
    ]
    assert points(None, 1.0) == "– of 1 point" and points(0.5, 2.0) == "0.5 of 2 points"


def test_a_missing_value_in_a_template_is_an_error_not_a_blank() -> None:
    import jinja2

    with pytest.raises(jinja2.UndefinedError):
        render("feedback.html.j2", title="T")


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_text_has_enough_contrast_in_light_and_dark() -> None:
    import engine.pages

    css = (Path(engine.pages.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in css.split("prefers-color-scheme", 1)
    )
    dark = dict(list(dark.items())[: len(light)])
    pairs = [(ink, paper) for ink in ("ink", "soft", "link") for paper in ("paper", "card", "faint")]
    pairs += [
        (kind, paper)
        for kind in ("right", "partial", "wrong", "waiting")
        for paper in ("paper", "card", f"{kind}-bg")
    ]
    pairs += [("ink", f"{kind}-bg") for kind in ("right", "partial", "wrong", "waiting")]
    for palette in (light, dark):
        for front, back in pairs:
            high, low = sorted((_luminance(palette[front]), _luminance(palette[back])), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, f"{front} on {back}"


def matched(answer: str, shown: ResultDisclosure = ResultDisclosure.FEEDBACK, *, final: bool = True) -> str:
    """A page with a matching of two prompts, keys 1-b and 2-a."""
    part = Part(
        "answer",
        "matching",
        2.0,
        key_ids=("b", "a"),
        options=(ChoiceOption("a", text("first target")), ChoiceOption("b", text("second target"))),
        prompts=(ChoiceOption("1", text("one prompt")), ChoiceOption("2", text("another prompt"))),
    )
    item = result(
        report(Outcome.PARTIAL, 1.0, "q"),
        variant=replace(variant(), parts=(part,)),
        answers={"answer": answer},
        disclosure=shown,
        is_final=final,
    )
    return words(feedback_page(student(item), title="T"))


def test_a_matching_is_shown_with_its_prompts_and_targets() -> None:
    shown = matched("1-b, 2-b")
    assert "1. one prompt (b) second target ✓ right" in shown
    assert "2. another prompt (b) second target ✗ not right" in shown
    assert "right is" not in shown, "the key is shown with the solution only"
    solved = matched("1-b", ResultDisclosure.SOLUTION)
    assert "2. another prompt nothing ✗ not right; right is (a) first target" in solved
    assert "✓" not in matched("1-b, 2-b", ResultDisclosure.SCORE).split("one prompt")[1]


def test_checks_that_were_not_tried_are_folded_and_one_right_answer_needs_no_table() -> None:
    checks = (
        Check("loads", Verdict.FAILED, 0, 0, "no module"),
        *(Check(f"c{i}", Verdict.SKIPPED, 0, 1, "Skipped") for i in range(5)),
    )
    shown = words(feedback_page(student(result(report(Outcome.WRONG, 0.0, checks=checks))), title="T"))
    assert "5 checks weren't tried, because an earlier one didn't pass" in shown
    right = result(
        report(Outcome.RIGHT, 2.0, "q", checks=(Check("answer", Verdict.PASSED, 2, 2, "Right."),)),
        variant=variant(),
    )
    assert "Checks" not in words(feedback_page(student(right), title="T"))


def test_a_mark_set_by_hand_has_no_verdict_beside_it() -> None:
    item = result(report(Outcome.WRONG, 0.0), mark=ColumnMark(0, 3, ("set by prof: 3 of 4",), by_hand=True))
    shown = words(feedback_page(student(item), title="T"))
    assert "set by hand 3 of 2 points" in shown and "not right" not in shown


def test_a_file_that_was_graded_in_part_is_not_called_ungraded() -> None:
    problem = IntakeProblem("q.yaml", "the answer to question 1 can't be read", "x", "ada", partly=True)
    shown = words(feedback_page(replace(student(), problems=(problem,)), title="T"))
    assert "weren't graded" not in shown


def test_every_place_shows_the_same_number() -> None:
    from engine.text.tables import number_cell
    from engine.text.words import plain_points

    for value in (0.525, 34.025, 2 / 3, 0.1 + 0.425, 19 / 3, 1.005, 2.675, 10.0, 0.0049, 0.995):
        shown = str(plain_points(value))
        assert points_text(value).split()[0] == shown == number_cell(value)
    assert [plain_points(v) for v in (0.525, 34.025, 1.005, 2.675)] == [0.53, 34.03, 1.01, 2.68]


def test_one_word_for_what_can_not_be_read() -> None:
    """Terminal, pages and files name an outcome by the same word; ``format_error`` is for programs."""
    assert OUTCOMES[Outcome.FORMAT_ERROR][1] == Outcome.FORMAT_ERROR.word == "unreadable"
    root = Path(__file__).parents[3]
    texts = [
        *root.glob("engine/**/*.py"),
        *root.glob("engine/**/*.j2"),
        *root.glob("docs/*.md"),
        root / "README.md",
    ]
    assert len(texts) > 300
    for path in texts:
        assert "format error" not in path.read_text(encoding="utf-8").lower(), path
