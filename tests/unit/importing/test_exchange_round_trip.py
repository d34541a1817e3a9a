"""Imported and graded: right answers get full marks, wrong ones their own feedback; losses are told."""

from __future__ import annotations

from itertools import product

import pytest

from engine.answers import right_response
from engine.authoring.importing.item_drafts import ImportReport
from engine.authoring.lint import lint_item
from engine.grading import grade_answers
from engine.items import builtin_bank, load_spec
from engine.model import GradeReport, Mode, Outcome, Response, Variant
from engine.variants import draw_seeded
from tests.unit.importing.files_read import FILES, Importing

BANK = builtin_bank()


def drawn(report: ImportReport, item_id: str, seed: int = 0) -> Variant:
    path = next(item.path for item in report.items if item.id == item_id)
    spec = load_spec(path)
    return draw_seeded(spec, version="0", registry=BANK.registry(), seed=seed)


def graded(variant: Variant, text: str) -> GradeReport:
    part = variant.parts[0].id
    return grade_answers(variant, Response({part: text}), mode=Mode.PRACTICE, student=None)


def said(report: GradeReport) -> str:
    return " ".join([*(check.message for check in report.checks), *(d.message for d in report.diagnosis)])


def letter(variant: Variant, text: str) -> str:
    return next(option.id for option in variant.parts[0].options if option.text.plain == text)


@pytest.fixture(params=["attention.xml", "attention.gift"])
def whole(request: pytest.FixtureRequest, importing: Importing) -> ImportReport:
    return importing((FILES / request.param).read_bytes(), request.param)


def test_every_item_lints_and_its_key_earns_full_marks(whole: ImportReport) -> None:
    assert len(whole.items) >= 6
    for item in whole.items:
        spec = load_spec(item.path)
        assert lint_item(spec, item.path, BANK, seeds=30).errors == ()
        for seed in range(5):
            variant = drawn(whole, item.id, seed)
            report = graded(variant, right_response(variant.parts[0]))
            assert (report.outcome, report.score) == (Outcome.RIGHT, spec.points)


def test_wrong_options_get_the_feedback_of_their_author(importing: Importing) -> None:
    report = importing((FILES / "attention.xml").read_bytes(), "attention.xml")
    variant = drawn(report, "largest-score-what-happens")
    expected = {
        "Every weight grows.": "They still sum to 1.",
        "The sum of the weights grows.": "Write out the quotient.",
        "Only the largest weight changes.": "Write out the quotient.",
    }
    for text, feedback in expected.items():
        wrong = graded(variant, letter(variant, text))
        assert wrong.outcome is Outcome.WRONG
        assert feedback in said(wrong)
    right = graded(variant, letter(variant, "Nothing."))
    assert "Yes, it cancels." in said(right)


def test_true_and_false_keep_their_order_and_their_feedback(importing: Importing) -> None:
    report = importing("::t::So?{FALSE#wrong one#right one}")
    variant = drawn(report, "t")
    assert [option.text.plain for option in variant.parts[0].options] == ["True", "False"]
    assert "wrong one" in said(graded(variant, "a"))
    assert "right one" in said(graded(variant, "false"))


@pytest.mark.parametrize(
    ("shares", "policy"),
    [
        ({"a1": 50, "b1": 50, "c1": -50, "d1": -50}, "net-correct"),
        ({"a1": 100, "b1": -100}, "net-correct"),
    ],
)
def test_where_a_rule_is_the_same_every_choice_earns_what_it_earned(
    importing: Importing, shares: dict[str, int], policy: str
) -> None:
    report = importing("::m::Which?{" + "".join(f"~%{share}%{text}" for text, share in shares.items()) + "}")
    (item,) = report.items
    assert item.notes == ()
    assert load_spec(item.path).answer.policy == policy  # type: ignore[union-attr]
    variant = drawn(report, "m")
    for picks in product([False, True], repeat=len(shares)):
        texts = [text for text, picked in zip(shares, picks, strict=True) if picked]
        if texts:
            moodle = min(1, max(0, sum(shares[text] for text in texts) / 100))
            assert graded(variant, ", ".join(letter(variant, text) for text in texts)).score == pytest.approx(
                moodle
            )


def test_percentages_that_are_not_kept_are_told(importing: Importing) -> None:
    report = importing("::s::x{=right ~%50%half ~%-20%minus}\n\n::m::x{~%50%a1 ~%50%b1 ~c1}")
    single, several = report.items
    assert [note.message for note in single.notes] == [
        "50 % for 'half' isn't kept: a wrong option earns 0 here",
        "-20 % for 'minus' isn't kept: a wrong option earns 0 here",
    ]
    (note,) = several.notes
    assert "the percentages can't be kept; 'coverage' is nearest" in note.message
    assert "100 % there, 66.7 % here" in note.message


def test_one_of_several_right_options_is_shown(importing: Importing) -> None:
    report = importing("::s::x{=%100%one =%100%two ~three ~four}")
    keys = set()
    for seed in range(20):
        variant = drawn(report, "s", seed)
        (key,) = [option for option in variant.parts[0].options if option.correct]
        assert len(variant.parts[0].options) == 3
        keys.add(key.text.plain)
    assert keys == {"one", "two"}
    assert "a variant shows one of them" in report.items[0].notes[0].message


# --- numbers ---


@pytest.mark.parametrize(
    ("field", "right", "wrong"),
    [
        ("3", ["3", "3.0", "6/2"], ["3.1", "2.9", "4"]),
        ("0.665", ["0.665", ".665"], ["0.664", "0.666", "0.6656"]),
        ("3.14159:0.01", ["3.14", "3.15", "3.1416"], ["3.1", "3.16"]),
        ("1822:5", ["1822", "1817", "1827"], ["1816", "1828"]),
        ("2.5:0.4", ["2.5", "2.1", "2.9", "2.84"], ["2", "2.91", "3"]),
        ("25..100", ["25", "100", "62.5"], ["24.9", "100.1"]),
        ("-1.5:0.1", ["-1.5", "-1.6", "-1.4"], ["1.5", "-1.3"]),
        ("=2:1 =4:1", ["1", "3", "5"], ["0.9", "5.1"]),
        ("2.718281828459045", ["2.71828183"], ["2.71828", "2.7183"]),
        ("1e-5:1e-6", ["0.00001", "1e-5", "0.000011"], ["0", "0.00002"]),
        ("0", ["0", "0.0"], ["0.01", "1"]),
        ("12345678.9", ["12345678.9"], ["12345679"]),
    ],
)
def test_numbers_are_right_where_they_were(
    importing: Importing, field: str, right: list[str], wrong: list[str]
) -> None:
    report = importing(f"::n::How many?{{#{field}}}")
    variant = drawn(report, "n")
    assert [graded(variant, text).outcome for text in right] == [Outcome.RIGHT] * len(right)
    assert [graded(variant, text).outcome for text in wrong] == [Outcome.WRONG] * len(wrong)


def test_foreseen_numbers_get_their_feedback(importing: Importing) -> None:
    report = importing("::n::x{#=3:0.1 =%0%6#twice as much =%50%3.05#near =%0%6#again ~#other}")
    variant = drawn(report, "n")
    assert "twice as much" in said(graded(variant, "6"))
    messages = [note.message for note in report.items[0].notes]
    assert messages == [
        "50 % for '3.05' isn't kept: a number is right or wrong here",
        "feedback of '3.05' isn't kept: it lies too near",
        "feedback of '6' isn't kept: it lies too near",
        "feedback for any other number isn't kept",
    ]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        ("=2 =-2", "numbers are right that lie apart (2 and -2), and a number field has one key"),
        ("1e12", "the number 1000000000000 is too large or too small"),
        ("1e-9", "the number 0.000000001 is too large or too small"),
        ("5:1e10", "its tolerance is too large"),
    ],
)
def test_numbers_without_a_counterpart_are_skipped(importing: Importing, field: str, reason: str) -> None:
    (skip,) = importing(f"x{{#{field}}}").skipped
    assert skip.reason == reason
    assert skip.next_step


# --- words and pairs ---


def test_mistakes_are_named_after_their_item(importing: Importing) -> None:
    report = importing("::n::x{#=3 =%0%6#no =%0%9#nor this}\n\n::w::x{=a1 =%0%b1#no}")
    named = [[mistake.id for mistake in load_spec(item.path).misconceptions] for item in report.items]
    assert named == [["m-n-1", "m-n-2"], ["m-w-1"]]


def test_short_answers(importing: Importing) -> None:
    report = importing("::w::Name?{=soft max =%50%exp#not normalised =%0%re\\\\lu#no =a*#x =%0%*#other}")
    variant = drawn(report, "w")
    assert graded(variant, "Soft Max").outcome is Outcome.RIGHT
    assert "not normalised" in said(graded(variant, "exp"))
    assert "no" in said(graded(variant, "re\\lu"))
    assert [note.message for note in report.items[0].notes] == [
        "'a*' isn't kept: there are no patterns here, list the answers",
        "feedback for any other answer isn't kept",
        "50 % for 'exp' isn't kept: it earns 0 here",
    ]


def test_capitals_matter_where_they_did(importing: Importing) -> None:
    xml = (
        '<quiz><question type="shortanswer"><name><text>w</text></name><questiontext>'
        "<text>x</text></questiontext>"
        '<usecase>1</usecase><answer fraction="100"><text>ReLU</text></answer></question></quiz>'
    )
    variant = drawn(importing(xml, "q.xml"), "w")
    assert graded(variant, "ReLU").outcome is Outcome.RIGHT
    assert graded(variant, "relu").outcome is Outcome.WRONG


def test_pairs_earn_their_share(importing: Importing) -> None:
    report = importing("::p::x{=one -> 1 =two -> 2 =uno -> 1 = -> 3}")
    variant = drawn(report, "p")
    part = variant.parts[0]
    assert (len(part.prompts), len(part.options)) == (3, 3)
    right = dict(zip((p.id for p in part.prompts), part.key_ids, strict=True))
    other = next(option.id for option in part.options if option.id != right["1"])
    answer = ", ".join(f"{n}-{other if n == '1' else t}" for n, t in right.items())
    assert graded(variant, answer).score == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x{=a1 ~a1}", "our check refuses it: this option appears here twice"),
        ("x{=W ~w}", "our check refuses it: two options read the same: w"),
        ("x{=b ~a1}", "the option 'b' is called like the letter of another one"),
        ("x{=a1 =b1 ~ <script>x</script>}", "option 3 holds nothing that can be shown here: a script"),
        ("x{~%50%a1 ~%50%b1}", "every option is right"),
        ("x{=a1 -> 1 =b1 -> 1}", "all pairs have the same right side"),
        ("x{=a*}", "it accepts patterns or signs only"),
        ("x{=a1" + "~b" * 27 + "}", "it has 28 options; 26 letters name them"),
        ("y" * 20_001 + "{=a1 ~b1}", "the text: a text has 20,001 characters; at most 20,000 are possible"),
    ],
)
def test_what_has_no_counterpart_is_skipped_with_its_reason(
    importing: Importing, text: str, reason: str
) -> None:
    report = importing(text)
    assert report.items == ()
    (skip,) = report.skipped
    assert skip.reason == reason
    assert skip.next_step


def test_options_that_are_letters_stand_under_their_letters(importing: Importing) -> None:
    report = importing("::l::x{~C =A ~B}")
    for seed in range(3):
        variant = drawn(report, "l", seed)
        assert [o.text.plain for o in variant.parts[0].options] == ["A", "B", "C"]
        assert graded(variant, "a").outcome is Outcome.RIGHT


def test_many_options_and_an_option_that_is_a_question_mark(importing: Importing) -> None:
    many = "".join(f"~%{50 if n < 2 else -10}%option {n}" for n in range(14))
    assert len(importing(f"x{{{many}}}\n\ny{{=? ~zz}}").items) == 2


def test_what_else_is_kept(importing: Importing) -> None:
    report = importing((FILES / "attention.xml").read_bytes(), "attention.xml")
    spec = load_spec(next(item.path for item in report.items if item.id == "largest-score-what-happens"))
    assert (spec.points, spec.hints, spec.solution) == (
        2,
        ("Factor out $e^c$.",),
        "The common factor cancels.",
    )
    assert spec.topics == ("attention", "soft-weights", "shift-invariance")
    source = spec.source
    assert not isinstance(source, tuple)
    assert (source.document, source.note) == ("background", "imported from attention.xml")
    head = next(item.path for item in report.items if item.id == spec.id).read_text("utf-8").split("id:")[0]
    assert "attention.xml, line 8 (multichoice), category $course$/top/Default for DL/Attention" in head
    assert "# - the text: a picture (the plan)" in head


def test_keys_typed_by_hand_are_flagged(importing: Importing) -> None:
    report = importing(
        "::a::softmax of 2, 1 and 0, first weight{#0.665}\n\n::b::tanh of 0.5?{=0.462 ~0.5}\n\n"
        "::c::How many lectures?{#5}\n\n::d::The year after 1913{=1914}"
    )
    assert report.key_suggestions == ("a", "b", "d")
    text = report.items[0].path.read_text("utf-8")
    assert "# key typed by hand: give a key expression" in text
    assert '#   key: "softmax([2, 1, 0])[0]"\n' in text


def test_a_suggested_key_can_be_put_in_its_place(importing: Importing) -> None:
    report = importing("::a::softmax of 2, 1 and 0, first weight{#0.665}")
    path = report.items[0].path
    text = path.read_text("utf-8").replace("key: 0.665", "key: softmax([2, 1, 0])[0]")
    text = text.replace("  tolerance: 0.000001\n", "")  # as the comment says
    path.write_text(text, encoding="utf-8")
    assert lint_item(load_spec(path), path, BANK, seeds=3).errors == ()
