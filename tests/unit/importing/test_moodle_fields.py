"""Orderings, essays and texts with fields of Moodle become items that earn what they earned."""

from __future__ import annotations

import pytest

from engine.authoring.importing.cloze_gaps import read_gaps
from engine.authoring.importing.foreign_question import FileFaults, FilePlace, SourceText
from engine.authoring.importing.item_drafts import ImportReport
from engine.grading import grade_answers
from engine.items import ProblemSpec, load_spec
from engine.items.answer_specs import MatrixAnswer, OrderingAnswer, VectorAnswer
from engine.items.rubric_specs import FreeTextAnswer
from engine.model import GradeReport, Mode, Response
from engine.variants import draw_seeded
from tests.oracles.moodle_cloze import cloze_fields
from tests.unit.importing.files_read import Importing


def asked(kind: str, text: str, inside: str = "") -> str:
    body = f"<questiontext format='html'><text><![CDATA[{text}]]></text></questiontext>"
    return f"<quiz><question type='{kind}'><name><text>n</text></name>{body}{inside}</question></quiz>"


def spec_of(report: ImportReport) -> ProblemSpec:
    assert report.skipped == ()
    (item,) = report.items
    return load_spec(item.path)


def graded(spec: ProblemSpec, **answers: str) -> GradeReport:
    variant = draw_seeded(spec, version="0", registry={}, seed=0)
    return grade_answers(variant, Response(answers), mode=Mode.PRACTICE, student=None)


@pytest.mark.parametrize(
    ("rule", "policy", "noted"),
    [
        ("ALL_OR_NOTHING", "exact", 0),
        ("ABSOLUTE_POSITION", "positions", 0),
        ("RELATIVE_ALL_PREVIOUS_AND_NEXT", "pairs", 1),
    ],
)
def test_orders_keep_their_rule(importing: Importing, rule: str, policy: str, noted: int) -> None:
    cards = "".join(f"<answer format='html'><text>card {n}</text></answer>" for n in (1, 2, 3))
    inside = (
        f"<gradingtype>{rule}</gradingtype><selecttype>ALL</selecttype><shownumcorrect>1</shownumcorrect>"
    )
    wrong = "<incorrectfeedback format='html'><text>Begin with 1.</text></incorrectfeedback>"
    report = importing(asked("ordering", "Order!", inside + wrong + cards), "q.xml")
    spec = spec_of(report)
    assert isinstance(spec.answer, OrderingAnswer)
    assert spec.answer.policy == policy
    assert [card.text for card in spec.answer.cards] == ["card 1", "card 2", "card 3"]
    assert spec.answer.feedback == "Begin with 1."
    assert len(report.items[0].notes) == noted


def test_a_row_of_numbers_is_a_vector_with_its_known_mistakes(importing: Importing) -> None:
    fields = ", ".join(
        f"{{1:NUMERICAL:={right}:0.005#~%0%{wrong}:0.005#Base 2.}}"
        for right, wrong in (("0.09", "0.14"), ("0.24", "0.29"), ("0.67", "0.57"))
    )
    text = f"<p>Weights of (1, 2, 3)?</p><p>[ {fields} ]</p>"
    spec = spec_of(importing(asked("cloze", text, "<defaultgrade>2</defaultgrade>"), "q.xml"))
    assert isinstance(spec.answer, VectorAnswer)
    assert (spec.answer.key, spec.answer.decimals, spec.answer.partial, spec.points) == (
        "[0.09, 0.24, 0.67]", 2, "per-entry", 2,
    )  # fmt: skip
    assert spec.stem == "Weights of (1, 2, 3)?"
    assert graded(spec, answer="0.09 0.24 0.66").score == pytest.approx(4 / 3)
    assert "Base 2." in graded(spec, answer="0.14 0.29 0.57").diagnosis[0].message


def test_a_table_of_numbers_is_a_matrix(importing: Importing) -> None:
    rows = "".join(
        f"<tr>{''.join(f'<td>{{1:NM:={value}:0.01}}</td>' for value in row)}</tr>" for row in ([1, 2], [3, 4])
    )
    spec = spec_of(importing(asked("cloze", f"<p>Product?</p><table><tbody>{rows}</tbody></table>"), "q.xml"))
    assert isinstance(spec.answer, MatrixAnswer)
    assert spec.answer.key == "[[1, 2], [3, 4]]"
    assert graded(spec, answer="1 2; 3 4").score == spec.points == 4


def test_a_list_of_fields_is_a_sequence_of_steps(importing: Importing) -> None:
    text = (
        "<p>Scores are 2 and 0.</p><ol><li><p>The larger weight?</p><p>{1:NUMERICAL:=0.88:0.005}</p></li>"
        "<li><p>Its function is called</p><p>{2:SHORTANSWER:=softmax~=soft max}</p></li>"
        "<li><p>It sums to</p><p>{1:MULTICHOICE_V:=one#Yes.~two}</p></li></ol>"
    )
    spec = spec_of(importing(asked("multianswer", text), "q.xml"))
    assert spec.stem == "Scores are 2 and 0."
    assert [(step.prompt, step.answer.type, step.points) for step in spec.steps] == [
        ("The larger weight?", "number", 1),
        ("Its function is called", "token", 2),
        ("It sums to", "single_choice", 1),
    ]
    assert graded(spec, step1="0.88", step2="Softmax", step3="two").score == 3


def test_gaps_in_sentences_are_steps_with_their_sentence(importing: Importing) -> None:
    text = "<p>Softmax: 2 + 2 = {1:NUMERICAL:=4} and 2 * 3 = {1:NUMERICAL:=6}.</p>"
    spec = spec_of(importing(asked("cloze", text), "q.xml"))
    assert [step.prompt for step in spec.steps] == [
        r"Softmax: 2 + 2 = \_\_\_\_\_ and 2 \* 3 = ….",
        r"Softmax: 2 + 2 = … and 2 \* 3 = \_\_\_\_\_.",
    ]


def test_an_essay_with_a_table_for_markers_keeps_its_rubric(importing: Importing) -> None:
    table = (
        "<table><tr><th>criterion</th><th>points</th><th>what earns them</th></tr>"
        "<tr><td>the cause</td><td>1</td><td>Scores change.</td></tr>"
        "<tr><td>the effect</td><td>2</td><td>The sum.</td></tr>"
        "<tr><td></td><td>2</td><td>Both.</td></tr><tr><td></td><td>1</td><td>One.</td></tr></table>"
        "<p>An answer that earns all points:</p><p>Because scores change.</p>"
    )
    grader = f"<graderinfo format='html'><text><![CDATA[{table}]]></text></graderinfo>"
    spec = spec_of(importing(asked("essay", "Why?", grader), "q.xml"))
    assert isinstance(spec.answer, FreeTextAnswer)
    assert [(c.title, c.points, c.text, len(c.levels)) for c in spec.answer.rubric] == [
        ("the cause", 1, "Scores change.", 0),
        ("the effect", 2, "The sum.", 2),
    ]
    assert (spec.answer.sample, spec.points) == ("Because scores change.", 3)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<p>no field</p>", "its text has no field"),
        ("{1:SHORTANSWER:=a}", "its text holds nothing but a field"),
        ("x {1:NM:=1}" * 21, "it has 21 fields; an item has at most 20 steps"),
    ],
)
def test_texts_without_a_counterpart_are_skipped(importing: Importing, text: str, reason: str) -> None:
    report = importing(asked("cloze", text), "q.xml")
    assert [skip.reason for skip in report.skipped] == [reason]


@pytest.mark.parametrize(
    "text",
    [
        "a {1:NUMERICAL:=0.5:0.01#good~%0%0.7:0.01#no} b {SA} {:SA:=x\\}y~%50%z\\#1#f&amp;#125;}",
        "{2:MULTICHOICE_VS:%100%yes#&lt;b&gt;~no~%-50%maybe#q} {3:SHORTANSWER_C:=&#126;a&#125;}",
        "{1:MRHS:%50%a~%50%b~c} {1:NM:%0%*#none~=-1.5e-3:1e-4}",
    ],
)
def test_fields_are_read_as_the_checker_of_moodle_reads_them(text: str) -> None:
    faults = FileFaults(SourceText("q.xml", text))
    ours, (theirs, problems) = read_gaps(text, FilePlace(), faults), cloze_fields(text)
    assert (len(faults), problems) == (0, [])
    assert len(ours.gaps) == len(theirs)
    for gap, part in zip(ours.gaps, theirs, strict=True):
        assert (int(gap.points), gap.case_sensitive, gap.single) == (part.weight, part.usecase, part.single)
        for answer, expected in zip(gap.answers, part.answers, strict=True):
            assert float(answer.fraction) == expected.fraction
            assert answer.feedback.text == expected.feedback
            if answer.number is None:
                assert answer.text.text == expected.text
            else:
                assert (float(answer.number.value), float(answer.number.tolerance)) == (
                    float(expected.text),
                    expected.tolerance,
                )


def test_a_field_without_an_end_is_a_fault_with_its_place(importing: Importing) -> None:
    from engine.errors import ExchangeError

    with pytest.raises(ExchangeError, match="has no end"):
        importing(asked("cloze", "x {1:NUMERICAL:=1 y"), "q.xml")
