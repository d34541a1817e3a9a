"""What Open edX's problem block does with the elements that the exports use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from tests.live.openedx_problem import FieldValue, OpenEdxProblemBlock


@pytest.fixture(scope="module")
def block() -> Iterator[OpenEdxProblemBlock]:
    with OpenEdxProblemBlock() as running:
        yield running


def _shares(
    block: OpenEdxProblemBlock, olx: str, responses: Sequence[Sequence[FieldValue]]
) -> list[float | None]:
    return [None if r.share is None else round(r.share, 4) for r in block.mark(olx, responses)]


_NUMBER = '<problem><numericalresponse answer="[0.265, 0.275]"><textline/></numericalresponse></problem>'


@pytest.mark.parametrize(
    ("typed", "share"),
    [
        ("0.27", 1),
        ("0.265", 1),
        ("0.275", 1),
        ("0.26499999", 0),
        ("0.27500001", 0),
        (".27", 1),
        ("2.7e-1", 1),
        (" 27/100 ", 1),
        ("27%", 1),
        ("sqrt(0.0729)", 1),
        ("", 0),
        ("0,27", None),
        ("\u22120.27", None),
        ("0.27 nats", None),
        ("nan", None),
    ],
)
def test_numbers_are_expressions(block: OpenEdxProblemBlock, typed: str, share: float | None) -> None:
    (result,) = block.mark(_NUMBER, [[typed]])
    assert result.share == share
    # What can't be read costs no attempt: the page shows why.
    assert bool(result.message) == (share is None)


def test_options_with_points_and_feedback(block: OpenEdxProblemBlock) -> None:
    olx = """<problem><multiplechoiceresponse partial_credit="points"><choicegroup>
      <choice correct="true">a<choicehint>Yes.</choicehint></choice>
      <choice correct="partial" point_value="0.25">b</choice>
      <choice correct="false">c<choicehint>No: \\(x\\).</choicehint></choice>
    </choicegroup></multiplechoiceresponse></problem>"""
    results = block.mark(olx, [[0], [1], [2], [None]])
    assert [result.share for result in results] == [1, 0.25, 0, 0]
    assert ["Yes." in results[0].feedback[0], "No: \\(x\\)." in results[2].feedback[0]] == [True, True]


def test_check_boxes_round_to_hundredths(block: OpenEdxProblemBlock) -> None:
    boxes = """<problem><choiceresponse{credit}><checkboxgroup>
      <choice correct="true">a</choice><choice correct="true">b</choice><choice correct="false">c</choice>
    </checkboxgroup></choiceresponse></problem>"""
    picks: list[list[FieldValue]] = [[[0, 1]], [[0]], [[0, 1, 2]], [[2]], [[]]]
    exact, each, halves = (
        _shares(block, boxes.format(credit=credit), picks)
        for credit in ("", ' partial_credit="EDC"', ' partial_credit="halves"')
    )
    assert exact == [1, 0, 0, 0, 0]
    assert each == [1, 0.67, 0.67, 0, 0]
    assert halves == [1, 0.5, 0.5, 0, 0]


def test_each_dropdown_earns_its_share_and_weight_scales(block: OpenEdxProblemBlock) -> None:
    dropdown = (
        '<optionresponse><optioninput><option correct="True">it\'s 1</option>'
        '<option correct="False">2, # "two" &lt; 3</option></optioninput></optionresponse>'
    )
    olx = f'<problem weight="3" display_name="A &amp; B" tags=\'["softmax"]\'>{dropdown * 3}</problem>'
    page = block.page(olx)
    assert (page["title"], page["weight"], page["tags"]) == ("A & B", 3.0, ["softmax"])
    assert page["fields"][0]["options"] == ["it's 1", '2, # "two" < 3']
    other = '2, # "two" < 3'
    assert _shares(block, olx, [["it's 1", "it's 1", other], [other, None, other]]) == [0.6667, 0]


def test_texts_and_hints(block: OpenEdxProblemBlock) -> None:
    olx = """<problem><stringresponse answer="softmax" type="ci"><additional_answer answer="the soft max"/>
      <stringequalhint answer="sigmoid">For two classes.</stringequalhint><textline/></stringresponse>
      <solution><p>Because.</p></solution><demandhint><hint>One.</hint><hint>Two.</hint></demandhint></problem>"""
    assert _shares(block, olx, [[" SoftMax "], ["the soft max"], ["soft  max"], [""]]) == [1, 1, 0, 0]
    assert "For two classes." in block.mark(olx, [["sigmoid"]])[0].feedback[0]
    page = block.page(olx)
    assert "One." in page["hints"] and "Two." in page["hints"] and "Two." not in page["html"]
    assert any("Because." in answer for answer in page["answers"].values())


def test_what_it_cannot_read(block: OpenEdxProblemBlock) -> None:
    with pytest.raises(ValueError, match="XMLSyntaxError"):
        block.page("<problem><p></problem>")
    # Python of authors runs in a sandbox that many installations don't have, and this one hasn't.
    with pytest.raises(ValueError, match="executing script code"):
        block.page('<problem><script type="loncapa/python">x = 1</script></problem>')
