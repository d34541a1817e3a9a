"""The elements of Canvas's QTI 1.2, as Canvas writes them itself and text2qti writes them for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.export.exported_item import ExportedItem
from engine.export.prose_html import xml_value

TYPED_FIELD = (
    '<response_str ident="response1" rcardinality="Single"><render_fib>'
    '<response_label ident="answer1" rshuffle="No"/></render_fib></response_str>'
)


def html_material(html: str) -> str:
    """Return HTML as a question holds it."""
    return f'<material><mattext texttype="text/html">{xml_value(html)}</mattext></material>'


def plain_material(text: str) -> str:
    """Return characters as a question holds them."""
    return f'<material><mattext texttype="text/plain">{xml_value(text)}</mattext></material>'


def var_equal(response: str, value: object) -> str:
    """Return the condition that a response is a value."""
    return f'<varequal respident="{response}">{xml_value(str(value))}</varequal>'


def full_points(condition: str) -> str:
    """Return the condition under which all points are earned."""
    return (
        f'<respcondition continue="No"><conditionvar>{condition}</conditionvar>'
        '<setvar action="Set" varname="SCORE">100</setvar></respcondition>'
    )


def part_points(response: str, answer: int, share: str) -> str:
    """Return the condition under which a blank or a pair earns its share, in per cent."""
    return (
        f"<respcondition><conditionvar>{var_equal(response, answer)}</conditionvar>"
        f'<setvar varname="SCORE" action="Add">{share}</setvar></respcondition>'
    )


def question_item(
    item: ExportedItem,
    kind: str,
    ids: Sequence[int],
    html: str,
    fields: str,
    conditions: Sequence[str],
    general: str,
    feedback: Mapping[str, str] | None = None,
) -> str:
    """Return an ``<item>``.

    Parameters
    ----------
    item : ExportedItem
    kind : str
        Its ``question_type``.
    ids : sequence of int
        Of its answers.
    html, fields : str
        Text and fields.
    conditions : sequence of str
        How it is marked.
    general : str
        HTML that is shown after any answer.
    feedback : mapping of str to str, optional
        Feedback of answers by its identifier.
    """
    texts = {**({"general_fb": general} if general else {}), **(feedback or {})}
    always = (
        '<respcondition continue="Yes"><conditionvar><other/></conditionvar>'
        '<displayfeedback feedbacktype="Response" linkrefid="general_fb"/></respcondition>'
    )
    metadata = {
        "question_type": kind,
        "points_possible": f"{item.points:g}",
        "original_answer_ids": ",".join(map(str, ids)),
        "assessment_question_identifierref": f"{item.name}-bank",
    }
    written = "".join(
        f"<qtimetadatafield><fieldlabel>{label}</fieldlabel><fieldentry>{entry}</fieldentry></qtimetadatafield>"
        for label, entry in metadata.items()
    )
    feedbacks = "".join(
        f'<itemfeedback ident="{name}"><flow_mat>{html_material(words)}</flow_mat></itemfeedback>\n'
        for name, words in texts.items()
    )
    processing = "\n".join([always, *conditions] if general else conditions)
    return (
        f'<item ident="{item.name}" title="{xml_value(item.title)}">\n'
        f"<itemmetadata><qtimetadata>{written}</qtimetadata></itemmetadata>\n"
        f"<presentation>{html_material(html)}\n{fields}</presentation>\n"
        '<resprocessing><outcomes><decvar maxvalue="100" minvalue="0" varname="SCORE" vartype="Decimal"/>'
        f"</outcomes>\n{processing}\n</resprocessing>\n{feedbacks}</item>\n"
    )
