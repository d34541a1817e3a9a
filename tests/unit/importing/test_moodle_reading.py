"""Moodle XML is read type by type; faults stand where they are, and nothing in it can explode."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from engine.authoring.importing.foreign_question import (
    AcceptedNumber,
    QuestionKind,
    TextForm,
    decode_source,
    detect_format,
)
from engine.authoring.importing.moodle_xml import read_moodle
from engine.errors import ExchangeError
from tests.unit.importing.files_read import FILES, faults, moodle

TEXT = "<name><text>n</text></name><questiontext format='html'><text>t</text></questiontext>"


def question(kind: str, inside: str, text: str = TEXT) -> str:
    return f'<question type="{kind}">{text}{inside}</question>'


def answer(text: str, share: object = 100, more: str = "") -> str:
    return f'<answer fraction="{share}"><text>{text}</text>{more}</answer>'


def test_a_whole_file() -> None:
    contents = read_moodle(decode_source((FILES / "attention.xml").read_bytes(), "attention.xml"))
    assert contents.faults == ()
    assert [(q.name, q.type, q.place.line) for q in contents.questions] == [
        ("Largest score: what happens?", "multichoice", 8),
        ("True of attention weights", "multichoice", 32),
        ("Quadratic cost", "truefalse", 47),
        ("Scaled score", "numerical", 54),
        ("Name of the function", "shortanswer", 64),
        ("Who is who?", "matching", 74),
        ("Gaps", "cloze", 87),
    ]
    first = contents.questions[0]
    assert first.category == "$course$/top/Default for DL/Attention/Soft weights"
    assert first.tags == ("Shift invariance",)
    assert first.points == 2
    assert first.general.text == "<p>The common factor cancels.</p>"
    assert [a.fraction for a in first.answers] == [1, 0, Fraction(-1, 3), Fraction(1, 2)]
    assert [hint.form for hint in first.hints] == [TextForm.HTML]
    assert contents.questions[1].text.form is TextForm.MARKDOWN
    assert [(skip.type, skip.place.line) for skip in contents.skipped] == [
        ("essay", 85),
        ("description", 86),
        ("calculated", 88),
        ("stack", 97),
    ]


def test_a_calculated_question_says_how_it_is_written_here() -> None:
    contents = read_moodle(decode_source((FILES / "attention.xml").read_bytes(), "attention.xml"))
    step = next(skip.next_step for skip in contents.skipped if skip.type == "calculated")
    assert "x: {kind: decimal, range: [1, 10], step: 0.1}, y: {kind: decimal, range: [2, 4], step: 1}" in step
    assert 'key: "x*y"' in step


def test_numbers_tolerances_and_units() -> None:
    units = (
        "<units><unit><multiplier>1</multiplier><unit_name>m</unit_name></unit>"
        "<unit><multiplier>100</multiplier><unit_name>cm</unit_name></unit></units>"
    )
    inside = answer("1.5", 100, "<tolerance>0.1</tolerance>") + answer(
        "*", 0, "<feedback><text>f</text></feedback>"
    )
    (read,) = moodle(question("numerical", inside + units)).questions
    assert read.kind is QuestionKind.NUMBER
    assert [a.number for a in read.answers] == [AcceptedNumber(Decimal("1.5"), Decimal("0.1")), None]
    assert read.unit == "m"
    assert "cm" in read.notes[0].message


def test_settings_of_choices_and_short_answers() -> None:
    choice = question(
        "multichoice",
        "<single>false</single><shuffleanswers>0</shuffleanswers>" + answer("a") + answer("b", 0),
    )
    short = question("shortanswer", "<usecase>1</usecase>" + answer("a"))
    first, second = moodle(choice + short).questions
    assert (first.single, first.shuffle) == (False, False)
    assert second.case_sensitive
    (usual,) = moodle(question("multichoice", answer("a") + answer("b", 0))).questions
    assert (usual.single, usual.shuffle) == (True, True)


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        (question("", answer("a")), "2:1: this question has no type"),
        ("<nonsense/>", "2:1: <quiz> holds <question>, not <nonsense>"),
        (
            question("shortanswer", answer("a"), "<name><text>n</text></name>"),
            "2:1: this question has no <questiontext>",
        ),
        (question("shortanswer", ""), "2:1: this question has no answers"),
        (
            question("shortanswer", answer("a", "x")),
            "'fraction' is a percentage from -100 to 100, such as 100 or 33.33333, not 'x'",
        ),
        (question("shortanswer", "<answer><text>a</text></answer>"), "and this answer states none"),
        (question("shortanswer", answer("a", 50)), "no answer is worth 100 %"),
        (question("shortanswer", answer("a") + answer(" ", 0)), "this answer is empty"),
        (
            question("shortanswer", "<usecase>maybe</usecase>" + answer("a")),
            "<usecase> is true or false, not 'maybe'",
        ),
        (question("numerical", answer("3,5")), "an answer is a number such as 0.25 or 5e-1, not '3,5'"),
        (
            question("numerical", answer("3", 100, "<tolerance>x</tolerance>")),
            "<tolerance> is a number from 0 on",
        ),
        (
            question("truefalse", answer("maybe") + answer("false", 0)),
            "an answer is true or false, not 'maybe'",
        ),
        (question("truefalse", answer("true") + answer("true", 0)), "both answers are 'true'"),
        (question("multichoice", answer("a", 0) + answer("b", 0)), "no option is right"),
        (
            question("matching", "<subquestion><text>a</text></subquestion>"),
            "this <subquestion> has no <answer>",
        ),
        (
            question("shortanswer", "<defaultgrade>-1</defaultgrade>" + answer("a")),
            "<defaultgrade> is a number from 0 on",
        ),
        (
            question("shortanswer", answer("<b>a</b>")),
            "a text can't hold the element <b>; put HTML into <![CDATA[",
        ),
        (question("shortanswer", answer("a"), TEXT.replace("html", "bbcode")), "no text format 'bbcode'"),
    ],
)
def test_faults(inside: str, found: str) -> None:
    assert any(found in fault for fault in faults(moodle(inside))), faults(moodle(inside))


def test_every_fault_is_told_and_what_is_sound_is_kept() -> None:
    sound = question("shortanswer", answer("a"))
    contents = moodle("\n".join([question("shortanswer", ""), sound, question("numerical", answer("x"))]))
    assert [fault.split(":")[0] for fault in faults(contents)] == ["2", "4"]
    assert [read.place.line for read in contents.questions] == [3]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<quiz>\n <a>", "2:5: the file ends while <a> of line 2 is open"),
        ("<quiz>\n<a><b></a>", "2:9: this end tag closes nothing; <b> of line 2 is still open"),
        ("<quiz>\nä & b</quiz>", "2:4: a character that XML doesn't allow here"),
        ("<quiz>&nbsp;</quiz>", "1:7: XML has no such entity"),
        ("<quiz/>\n<quiz/>", "2:1: the XML has ended before this"),
        ("<other/>", "1:1: a Moodle XML file begins with <quiz>, not with <other>"),
        ('<!DOCTYPE quiz [<!ENTITY a "b">]>\n<quiz>&a;</quiz>', "can't be declared here"),
        ('<!DOCTYPE quiz SYSTEM "http://127.0.0.1/x.dtd"><quiz/>', "can't be declared here"),
        ("<quiz>" + "<a>" * 100, "elements are nested more than 32 deep"),
    ],
)
def test_faults_of_the_xml(text: str, found: str) -> None:
    contents = read_moodle(decode_source(text.encode(), "q.xml"))
    assert found in faults(contents)[0]


def test_the_laughs_of_a_billion_entities_are_never_written_out() -> None:
    levels = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE quiz [<!ENTITY l0 "ha">{levels}]><quiz>&l11;</quiz>'
    assert "can't be declared here" in faults(read_moodle(decode_source(bomb.encode(), "q.xml")))[0]


def test_questions_before_a_fault_of_the_xml_are_kept() -> None:
    text = f"<quiz>{question('shortanswer', answer('a'))}<question type='essay'><b></question></quiz>"
    contents = read_moodle(decode_source(text.encode(), "q.xml"))
    assert (len(contents.faults), len(contents.questions)) == (1, 1)


# --- encodings and formats ---


@pytest.mark.parametrize(
    ("data", "encoding", "guessed"),
    [
        ("<quiz>ä</quiz>".encode(), "utf-8", False),
        ("\ufeff<quiz>ä</quiz>".encode(), "utf-8", False),
        ("\ufeff<quiz>ä</quiz>".encode("utf-16-le"), "utf-16", False),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><quiz>ä</quiz>".encode("latin-1"), "iso8859-1", False),
        ("<?xml version='1.0' encoding='UTF-8'?><quiz>ä – “x”</quiz>".encode("cp1252"), "cp1252", True),
        ("::ä:: – {=“x”}".encode("cp1252"), "cp1252", True),
    ],
)
def test_encodings(data: bytes, encoding: str, guessed: bool) -> None:
    source = decode_source(data, "f")
    assert "ä" in source.text
    assert not source.text.startswith("\ufeff")
    assert (source.encoding, source.guessed) == (encoding, guessed)


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("ä\nö".encode() + b"\xe4", "f:2:2"),  # UTF-8 but for one byte: not guessed at
        (b"a\x81", "f:1:2"),  # no character of Windows-1252
        (b"a\n\x00", "f:2"),
        (b"<?xml version='1.0' encoding='rot13'?><quiz/>", "f:1:1"),
        (b"PK\x03\x04", "f"),
    ],
)
def test_what_is_no_text_is_refused_with_its_place(data: bytes, where: str) -> None:
    with pytest.raises(ExchangeError) as caught:
        decode_source(data, "f")
    assert caught.value.where == where


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("<?xml version='1.0'?>\n<quiz>", "moodle"),
        (" <quiz>", "moodle"),
        ("<!-- x --><quiz>", "moodle"),
        ("<p>So?</p> {T}", "gift"),
        ("::a:: b {T}", "gift"),
        ("<p>a</p> {T}", "gift"),
        ("<?xml version='1.0'?>\n<assessmentItem/>", "qti21"),
        ("<!-- a --><questestinterop/>", "canvas"),
        ("<problem display_name='a'/>", "olx"),
    ],
)
def test_formats_are_found_out(text: str, form: str) -> None:
    assert detect_format(decode_source(text.encode(), "f")) == form


def test_other_xml_is_refused() -> None:
    with pytest.raises(ExchangeError, match="neither Moodle XML nor QTI nor OLX"):
        detect_format(decode_source(b"<?xml version='1.0'?><svg/>", "f"))
