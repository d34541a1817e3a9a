"""A student's page: weights as pictures, what counts and why, and nothing that isn't released."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime
from xml.etree import ElementTree

import html5lib
import pytest

from engine.marks.class_table import ColumnMark, ItemResult, StudentResults, TableColumn
from engine.model import (
    Check,
    ComparedWeights,
    FloatArray,
    GradeReport,
    Mode,
    Outcome,
    Part,
    RenderedText,
    ResultDisclosure,
    Variant,
    Verdict,
)
from engine.pages import feedback_page
from engine.pages.weights import answered_weights, code_weights

NOW = datetime(2026, 11, 27, 12, 30, tzinfo=UTC)
CODE = TableColumn("~", 0, "softmax", "Write softmax", 10.0)
QUIZ = TableColumn("week-1", 1, "weights", "Weights", 1.0)
WORD = RenderedText("Stem", "<p>Stem</p>", "Stem")
NAN, INF = math.nan, math.inf
SETTINGS = {
    "simplex": True,
    "places": [3, 3, 3],
    "lower": ["0.099", "0.199", "0.699"],
    "upper": ["0.101", "0.201", "0.701"],
}
PART = Part("answer", "vector", 1.0, key=FloatArray((3,), (0.1, 0.2, 0.7)), settings=SETTINGS)
VARIANT = Variant("var", "weights", "ver", "Weights", WORD, (PART,))
KEPT = ComparedWeights(
    "softmax([[2, 1], [0, 1]])", "w[0]", FloatArray((2, 2), (0.7311, 0.5, 0.26894, 0.5)),
    FloatArray((2, 2), (0.73106, 0.26894, 0.26894, 0.73106)), (1, 3),
)  # fmt: skip


def code(score: float | None = 4.0, mark: ColumnMark | None = None, **more: object) -> ItemResult:
    outcome = Outcome.UNGRADED if score is None else Outcome.PARTIAL
    report = GradeReport("softmax", "v", outcome, score, 10.0, mode=Mode.MARKS, weights=(KEPT,))
    return ItemResult(CODE, report, "ab" * 32, NOW, mark=mark, **more)


def answer(text: str, **more: object) -> ItemResult:
    report = GradeReport("weights", "v", Outcome.WRONG, 0.0, 1.0, mode=Mode.MARKS, variant="var")
    return ItemResult(QUIZ, report, "cd" * 32, NOW, variant=VARIANT, answers={"answer": text}, **more)


def tree_of(page: str) -> ElementTree.Element:
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(page)


def page_of(*items: ItemResult, solutions: bool = False, **more: object) -> str:
    return feedback_page(StudentResults("ada", "Ada", items, **more), title="T", solutions=solutions)


def words(page: str) -> str:
    return " ".join(" ".join(tree_of(page).find("body").itertext()).split())


def spoken(page: str) -> list[str]:
    return [e.get("aria-label") for e in tree_of(page).iter() if str(e.tag).endswith("svg")]


# --- weights ---


def test_weights_of_code_stand_beside_the_right_ones_in_words_and_as_a_table() -> None:
    page = page_of(code())
    assert spoken(page) == [
        "Your weights, 2 by 2. Row 1: 0.73, 0.50 (not right). Row 2: 0.27, 0.50 (not right).",
        "The right weights, 2 by 2. Row 1: 0.73, 0.27. Row 2: 0.27, 0.73.",
    ]
    shown = words(page)
    assert "w[0] of softmax([[2, 1], [0, 1]])" in shown
    assert "1, 2 0.50 0.27 ✗ not right 2, 1 0.27 0.27 ✓ right" in shown
    assert page.count("✗ 0.50") == 2 * 2, "printed in the cell and told in its title"


def test_a_wrong_number_is_told_with_as_many_places_as_it_takes() -> None:
    one = ComparedWeights(
        "f()", "", FloatArray((1, 2), (0.50004, 0.49996)), FloatArray((1, 2), (0.5, 0.5)), (0, 1)
    )
    (view,) = code_weights([one])
    assert [(e.value, e.right) for e in view.lines] == [("0.50004", "0.50000"), ("0.49996", "0.50000")]


def test_what_is_no_number_is_told_in_words() -> None:
    own = FloatArray((2, 3), (NAN, INF, -INF, -1.0, 3.0, 1e30))
    right = FloatArray((2, 3), (0.5, 0.5, 0.0) * 2)
    (view,) = code_weights([ComparedWeights("f()", "", own, right, tuple(range(6)))])
    assert [line.value for line in view.lines] == ["NaN", "∞", "−∞", "−1.00", "3.00", "1e+30"]
    assert "Row 1: NaN (not right), ∞ (not right), −∞ (not right)." in view.pictures[0]


def test_both_pictures_have_one_scale_and_one_width() -> None:
    own, right = FloatArray((1, 2), (-1.0, 3.0)), FloatArray((1, 2), (1.0, 0.0))
    (view,) = code_weights([ComparedWeights("f()", "", own, right, (0, 1))])
    drawn = [ElementTree.fromstring(str(picture)) for picture in view.pictures]
    bars = [
        [float(r.get("width")) for r in picture.iter("rect") if r.get("height") == "5"] for picture in drawn
    ]
    # the scale goes from -1 to 3: there -1 is nothing, 3 is all, 1 one half and 0 a quarter
    assert bars[0][0] == 0
    assert [bar / bars[0][1] for bar in bars[1]] == pytest.approx([1 / 2, 1 / 4], rel=0.01)
    assert drawn[0].find("svg").get("width") == drawn[1].find("svg").get("width")


@pytest.mark.parametrize("outcome", [Outcome.UNGRADED, Outcome.FORMAT_ERROR])
def test_no_weights_where_there_is_no_mark(outcome: Outcome) -> None:
    item = code()
    item = replace(item, report=replace(item.report, outcome=outcome, score=None))
    assert spoken(page_of(item)) == []


def test_an_answer_is_drawn_alone_until_the_key_is_shown() -> None:
    typed = "0.1 0.3 -0.7"
    own = "Your weights, 1 by 3. Row 1: 0.100, 0.300 (not right), −0.700 (not right)."
    right = "The right weights, 1 by 3. Row 1: 0.100, 0.200, 0.700."
    assert spoken(page_of(answer(typed))) == [own]
    assert spoken(page_of(answer(typed), solutions=True)) == [own, right]
    assert spoken(page_of(answer(typed, disclosure=ResultDisclosure.SOLUTION))) == [own, right]
    not_final = answer(typed, disclosure=ResultDisclosure.SOLUTION, is_final=False)
    assert spoken(page_of(not_final)) == [own], "with attempts left the key isn't told"


@pytest.mark.parametrize("typed", ["", "  ", "0.1 0.2", "what?", "[[0.1, 0.2], [0.3, 0.4]]", "9" * 5000])
def test_what_cant_be_read_as_weights_isnt_drawn(typed: str) -> None:
    assert answered_weights(PART, typed, with_key=True) is None


def test_only_fields_that_ask_for_weights_are_drawn() -> None:
    scores = replace(PART, settings=SETTINGS | {"simplex": False})
    assert answered_weights(scores, "0.1 0.2 0.7", with_key=True) is None
    assert answered_weights(Part("c", "code", 1.0), "x", with_key=True) is None
    choice = Part("c", "single_choice", 1.0, key_ids=("a",))
    assert answered_weights(choice, "a", with_key=True) is None
    large = replace(PART, key=FloatArray((13,), (1 / 13,) * 13), settings=SETTINGS | {"places": [3] * 13})
    assert answered_weights(large, " ".join(["0.1"] * 13), with_key=True) is None


@pytest.mark.parametrize(
    "level", [ResultDisclosure.NOTHING, ResultDisclosure.SCORE, ResultDisclosure.VERDICT]
)
def test_below_feedback_nothing_is_drawn(level: ResultDisclosure) -> None:
    page = page_of(code(disclosure=level), answer("0.1 0.3 0.6", disclosure=level))
    assert spoken(page) == [] and "0.26894" not in page and "softmax([[2" not in page


# --- what counts ---


def test_what_counts_is_told_with_what_was_graded_why_and_the_comment() -> None:
    late = ColumnMark(4.0, 3.2, ("Late by 1 day: 20 % off.", "Set by a person."), comment="Come & see <me>")
    shown = words(page_of(code(mark=late)))
    assert "3.2 of 10 points" in shown.split("Write softmax")[0]
    assert "What counts: 3.2 of 10 points. Graded: 4 of 10 points." in shown
    assert "Late by 1 day: 20 % off. Set by a person." in shown
    assert "Comment: Come & see <me>" in shown


def test_a_mark_that_changes_nothing_says_nothing() -> None:
    assert "What counts" not in words(page_of(code(mark=ColumnMark(4.0, 4.0))))


def test_excused_and_dropped_work_is_left_out_of_the_total() -> None:
    excused = code(mark=ColumnMark(4.0, None, ("Ill.",), excused=True))
    shown = words(page_of(excused, answer("0.1 0.2 0.7", mark=ColumnMark(0.0, 0.0))))
    assert "0 of 1 point " in shown.split("Exercise Result")[0]
    assert "You are excused. This counts neither for nor against you. Ill." in shown and "– excused" in shown
    dropped = words(page_of(code(mark=ColumnMark(4.0, 4.0, dropped=True)), answer("1 0 0")))
    assert "0 of 1 point " in dropped.split("Exercise Result")[0]
    assert "◐ partly right – not counted" in dropped and "This isn't counted." in dropped


def test_missing_work_has_its_entry_and_no_receipt() -> None:
    missing = ((QUIZ, ColumnMark(None, 0.0, ("Nothing was handed in.",))),)
    page = page_of(code(), without_work=missing)
    assert "4 of 11 points" in words(page)
    assert f"Weights {QUIZ.place} – nothing handed in 0 of 1 point Nothing was handed in." in words(page)
    assert page.count("data-sha256") == 1
    alone = words(page_of(without_work=((QUIZ, ColumnMark(None, None, (), excused=True)),)))
    assert "0 of 0 points" in alone and "Nothing was graded" not in alone


def test_an_ungraded_result_keeps_the_total_open_unless_it_is_set_by_hand() -> None:
    assert "0 of 10 points so far" in words(page_of(code(None)))
    by_hand = words(page_of(code(None, mark=ColumnMark(None, 7.0, ("Set by a person.",)))))
    assert "7 of 10 points" in by_hand and "so far" not in by_hand


def test_what_isnt_released_is_in_no_total_and_its_mark_and_comment_are_hidden() -> None:
    hidden = code(
        disclosure=ResultDisclosure.NOTHING,
        mark=ColumnMark(4.0, 3.25, ("Because.",), comment="Secret comment"),
    )
    page = page_of(hidden, answer("1 0 0"), percent=32.5)
    shown = words(page)
    assert "0 of 1 point " in shown and "1 of 2 results aren't shown now." in shown
    assert "The result of this exercise isn't shown now." in shown
    for secret in ("3.25", "Because", "Secret comment", "32.5", "partly right"):
        assert secret not in page
    excused = replace(hidden, mark=replace(hidden.mark, excused=True))
    told = page_of(excused)
    assert "You are excused." in words(told) and "Secret comment" not in told and "3.25" not in told


def test_the_percentage_of_groups_is_told() -> None:
    assert "87.5 %, weighted by the course's groups." in words(page_of(code(), percent=87.5))


def test_the_receipt_tells_when_it_came_and_that_it_was_late() -> None:
    came = datetime(2026, 11, 20, 8, 5, tzinfo=UTC)
    shown = words(page_of(code(handed=came, marked_late=True, attempts=3))).replace(" ;", ";")
    assert "Handed in Fri 20 Nov 2026, 08:05 UTC; marked as late" in shown
    assert "Graded Fri 27 Nov 2026, 12:30 UTC; the best of 3 submissions" in shown
    ruled = words(page_of(code(marked_late=True, attempts=3, mark=ColumnMark(4.0, 4.0))))
    assert "at a time that isn't known; marked as late" in ruled and "one of 3 submissions" in ruled


# --- checks ---


def stepped(level: ResultDisclosure, *checks: Check) -> ItemResult:
    prompt = RenderedText("Compute the weights", "<p>Compute the weights</p>", "")
    parts = (replace(PART, id="e", prompt=prompt), replace(PART, id="w", prompt=prompt))
    report = GradeReport("weights", "v", Outcome.PARTIAL, 0.5, 1.0, checks, mode=Mode.MARKS, variant="var")
    variant = replace(VARIANT, parts=parts)
    return ItemResult(
        QUIZ, report, "cd" * 32, NOW, variant=variant, answers={"e": "1", "w": "2"}, disclosure=level
    )


STEPS = (
    Check("e", Verdict.PASSED, 0.5, 0.5, "Right."),
    Check("w", Verdict.FAILED, 0.0, 0.5, "Entry 1 is wrong."),
    Check("w-weights", Verdict.FAILED, 0.0, 0.0, "They don't sum to 1."),
)


def test_a_step_is_named_by_what_it_asks_and_not_by_its_id() -> None:
    shown = words(page_of(stepped(ResultDisclosure.FEEDBACK, *STEPS)))
    assert "Step 2: Compute the weights ✗ failed Entry 1 is wrong. 0 / 0.5" in shown
    assert "Step 2: Compute the weights (as weights) ✗ failed" in shown
    assert " w ✗" not in shown


def test_verdicts_alone_have_no_column_of_what_was_seen() -> None:
    shown = words(page_of(stepped(ResultDisclosure.VERDICT, *STEPS)))
    assert "What was seen" not in shown
    assert "Check Verdict Points" in shown
    assert "What was seen" in words(page_of(stepped(ResultDisclosure.FEEDBACK, *STEPS)))
    # One answer's verdict stands beside its title already.
    item = answer("1, 1, 1", disclosure=ResultDisclosure.VERDICT)
    only = replace(item, report=replace(item.report, checks=(Check("answer", Verdict.FAILED, 0.0, 1.0),)))
    assert "Checks" not in words(page_of(only))


def test_passed_checks_say_how_many_of_them_earn_points() -> None:
    checks = (
        Check("loads", Verdict.PASSED, 0.0, 0.0),
        Check("values", Verdict.PASSED, 6.0, 6.0),
        Check("sums", Verdict.PASSED, 4.0, 4.0),
    )
    item = code(10.0)
    whole = replace(item, report=replace(item.report, outcome=Outcome.RIGHT, checks=checks))
    assert "All 3 checks passed, 2 of them for points" in words(page_of(whole))
    earning = replace(item, report=replace(item.report, outcome=Outcome.RIGHT, checks=checks[1:]))
    assert "All 2 checks passed " in words(page_of(earning))
