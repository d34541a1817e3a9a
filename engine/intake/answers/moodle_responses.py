"""The responses report of a Moodle quiz: names, ``State``, ``Completed``, ``Response 1`` …"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.course.person_columns import person_columns, plain_head
from engine.intake.answers.layout import Layout, head_place, questions_of

__all__ = ["moodle_responses"]

_RESPONSE = re.compile(r"response ?[0-9]+")
_STARTED, _STATE = ("started on", "started"), ("state", "status")


def moodle_responses(header: Sequence[str]) -> Layout | None:
    """Return the columns of such a report; a hyphen there means that nothing was answered."""
    state = head_place(header, _STATE)
    if state is None or head_place(header, _STARTED) is None:
        return None
    if all(_is_other(head) for head in header):
        return None
    questions, doubled = questions_of(header, {state}, _is_other)
    return Layout(
        person_columns(header),
        questions,
        handed=head_place(header, ["completed"]),
        state=state,
        no_answer=("-",),
        doubled=doubled,
    )


def _is_other(head: str) -> bool:
    return _RESPONSE.fullmatch(plain_head(head)) is None
