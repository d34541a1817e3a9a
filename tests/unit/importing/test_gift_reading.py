"""GIFT files are read as their grammar says; faults stand where they are."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from engine.authoring.importing.foreign_question import (
    AcceptedNumber,
    FilePlace,
    ForeignQuestion,
    QuestionKind,
    TextForm,
)
from engine.authoring.importing.gift import unescaped
from tests.unit.importing.files_read import FILES, faults, gift


def one(text: str) -> ForeignQuestion:
    contents = gift(text)
    assert faults(contents) == []
    (question,) = contents.questions
    return question


def shares(question: ForeignQuestion) -> dict[str, Fraction]:
    return {answer.text.text: answer.fraction for answer in question.answers}


def test_a_whole_file() -> None:
    contents = gift((FILES / "attention.gift").read_text("utf-8"))
    assert faults(contents) == []
    assert [(q.name, q.kind.value, q.place.line) for q in contents.questions] == [
        ("Bottleneck", "choice", 8),
        ("Weights", "choice", 16),
        ("TF", "choice", 24),
        ("Tanh", "number", 26),
        ("Range", "number", 28),
        ("Two ranges", "number", 30),
        ("Score names", "matching", 32),
        ("", "choice", 38),
        ("", "token", 40),
        ("Plain", "choice", 46),
    ]
    assert {q.category for q in contents.questions} == {"$course$/top/Attention/Alignment"}
    assert contents.questions[0].tags == ("seq2seq",)
    assert [(skip.name, skip.type, skip.place.line) for skip in contents.skipped] == [
        ("Note", "description", 42),
        ("Essay", "essay", 44),
    ]


def test_options_with_weights_feedback_and_comments() -> None:
    question = one("Which?{\n =a #yes\n // no answer\n ~b#no\n ~%50%c\n ~%-25%d ####all\n}")
    assert question.single
    assert shares(question) == {"a": 1, "b": 0, "c": Fraction(1, 2), "d": Fraction(-1, 4)}
    assert [answer.feedback.text for answer in question.answers] == ["yes", "no", "", ""]
    assert question.general.text == "all"
    assert [answer.place for answer in question.answers] == [
        FilePlace(2, 2),
        FilePlace(4, 2),
        FilePlace(5, 2),
        FilePlace(6, 2),
    ]


def test_without_a_right_mark_several_options_are_picked() -> None:
    question = one("Which?{~%33.33333%a ~%66.66667%b ~%-100%c}")
    assert not question.single
    assert shares(question) == {"a": Fraction(1, 3), "b": Fraction(2, 3), "c": Fraction(-1)}


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("3", AcceptedNumber(Decimal(3))),
        ("3.14:0.01", AcceptedNumber(Decimal("3.14"), Decimal("0.01"))),
        ("=3.14 : .01", AcceptedNumber(Decimal("3.14"), Decimal("0.01"))),
        ("1..5", AcceptedNumber(Decimal(3), Decimal(2))),
        ("-2..-1.5", AcceptedNumber(Decimal("-1.75"), Decimal("0.25"))),
        ("1e-3:1e-4", AcceptedNumber(Decimal("0.001"), Decimal("0.0001"))),
        ("\u22122", AcceptedNumber(Decimal(-2))),
    ],
)
def test_numbers(field: str, number: AcceptedNumber) -> None:
    question = one(f"How many? {{#{field}}}")
    assert question.kind is QuestionKind.NUMBER
    assert [answer.number for answer in question.answers] == [number]
    assert question.answers[0].fraction == 1


def test_several_numbers_and_what_is_said_to_others() -> None:
    question = one("How many?{#=1822:0 #right =%50%1822:2 #near ~#no}")
    assert [(a.number, a.fraction, a.feedback.text) for a in question.answers] == [
        (AcceptedNumber(Decimal(1822)), 1, "right"),
        (AcceptedNumber(Decimal(1822), Decimal(2)), Fraction(1, 2), "near"),
        (None, 0, "no"),
    ]


@pytest.mark.parametrize(
    ("written", "right"), [("T", "True"), ("true", "True"), ("F", "False"), ("FALSE", "False")]
)
def test_truth(written: str, right: str) -> None:
    question = one(f"So?{{{written}#if wrong#if right}}")
    (answer,) = [answer for answer in question.answers if answer.fraction == 1]
    assert (answer.text.text, answer.feedback.text) == (right, "if right")
    assert next(a for a in question.answers if a.fraction == 0).feedback.text == "if wrong"
    assert not question.shuffle


def test_pairs_and_a_right_side_too_many() -> None:
    question = one("Match.{=a -> 1 =b->2 = -> 3}")
    assert [(pair.prompt.text, pair.target.text) for pair in question.pairs] == [
        ("a", "1"),
        ("b", "2"),
        ("", "3"),
    ]


def test_short_answers() -> None:
    question = one("Name?{=softmax =%50%exp#nearly}")
    assert question.kind is QuestionKind.TOKEN
    assert shares(question) == {"softmax": 1, "exp": Fraction(1, 2)}
    assert shares(one("Name?{softmax}")) == {"softmax": 1}


def test_a_missing_word() -> None:
    assert one("It {=is ~are} so.").text.text == "It _____ so."


@pytest.mark.parametrize(
    ("head", "form"),
    [
        ("", TextForm.AUTO),
        ("[html]", TextForm.HTML),
        ("[markdown] ", TextForm.MARKDOWN),
        ("[PLAIN]", TextForm.PLAIN),
    ],
)
def test_forms(head: str, form: TextForm) -> None:
    question = one(f"::n::{head}text{{=a ~[html]b#[plain]c}}")
    assert (question.text.text, question.text.form) == ("text", form)
    assert [answer.text.form for answer in question.answers] == [form, TextForm.HTML]
    assert question.answers[1].feedback.form is TextForm.PLAIN


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r"\{a\} \= \~ \# \:", "{a} = ~ # :"),
        (r"a\nb", "a\nb"),
        (r"a\\b \x", r"a\b \x"),
        (r"\(\nu \neq \nabla\)\nx", "\\(\\nu \\neq \\nabla\\)\nx"),
        (r"\\(\nu\\)", r"\(\nu\)"),
        (r"$$\nu$$\nu", "$$\\nu$$\nu"),
        ("\\", "\\"),
    ],
)
def test_escapes(text: str, meant: str) -> None:
    assert unescaped(text) == meant


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("::name {=a}", "1:1: this name isn't ended by ::"),
        ("ok {=a ~b}\n\nx {=a", "3:3: this { isn't closed before the question ends"),
        ("a } b", "1:3: this } closes nothing"),
        (r"a {=\frac{1}{2} ~c}", r"1:10: a { inside the answers is written \{"),
        ("a {=b} {=c}", "1:8: a second { for one question"),
        ("a {=b ~c}\nd {=e ~f}", "2:3: a second { for one question: put an empty line before the question"),
        ("a {=b} }", "1:8: this } closes nothing"),
        ("a {=%x%b ~c}", "1:6: a weight is a percentage from -100 to 100, such as %50%, not 'x'"),
        ("a {=%200%b ~c}", "1:6: a weight is a percentage"),
        ("a {x =b ~c}", "1:4: there is text before the first = or ~"),
        ("a {=b -> 1 =c}", "1:12: this pair has no -> between its two sides"),
        ("a {#}", "1:5: there is no number after the #"),
        ("a {#3,5}", "1:5: '3,5' isn't a number in GIFT"),
        ("a {#5..3}", "1:5: '5..3' isn't a number in GIFT"),
        ("a {~b ~c}", "1:1: no option is right"),
        ("a {=%50%b}", "1:1: no answer is worth 100 %"),
        ("a {=b ~}", "1:7: this answer is empty"),
        ("{=a ~b}", "1:1: this question asks nothing"),
        ("a {=b -> 1}", "1:1: a matching question needs two pairs at least"),
    ],
)
def test_faults(text: str, found: str) -> None:
    assert any(fault.startswith(found) for fault in faults(gift(text))), faults(gift(text))


def test_every_fault_is_told_and_what_is_sound_is_kept() -> None:
    contents = gift("a {=b\n\nc }\n\n::d {}\n\nok {=x ~y}\n\ne {#z}")
    assert [fault.split(": ")[0] for fault in faults(contents)] == ["1:3", "5:1", "9:5"]
    assert [question.text.text for question in contents.questions] == ["ok"]


def test_the_rest_of_a_question_that_an_empty_line_cuts_is_no_fault_of_its_own() -> None:
    assert len(faults(gift("a {\n =b\n\n ~c\n\n ~d }\n\nok {=x ~y}"))) == 1


def test_line_ends_of_other_systems_keep_their_lines() -> None:
    assert (
        faults(gift("a {=b ~c}\r\n\r\nd }"))
        == faults(gift("a {=b ~c}\r\rd }"))
        == faults(gift("a {=b ~c}\n\nd }"))
    )


def test_a_file_that_is_too_long_is_refused() -> None:
    assert "at most 4 MiB" in faults(gift("a" * (4 * 2**20 + 1)))[0]
    many = gift("a {=b ~c}\n\n" * 5001)
    assert faults(many) == ["10001:1: a file holds at most 5,000 questions; make several of it"]
