"""What staff see of the queue: what waits, what is being graded, and what was set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.store.waiting import HandInState
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_MOST = 200  # lines: more are a deadline's rush, which nobody reads


def queue(visit: Visit) -> Response:
    """Show all hand-ins of code that have no grade yet."""
    waiting = visit.site.store.waiting
    open_ones = waiting.in_state([HandInState.WAITING, HandInState.RUNNING])
    return visit.page(
        "coding/queue.html.j2",
        open_ones=open_ones[:_MOST],
        count=len(open_ones),
        aside=waiting.in_state([HandInState.SET_ASIDE]),
        place=visit.site.hand_in_desk.place,
        fault=visit.site.hand_in_desk.fault,
        title_of=visit.site.bank.title_of,
    )


def try_again(visit: Visit) -> Response:
    """Let a hand-in that was set aside wait again."""
    number = visit.form.text("hand_in")
    store = visit.site.store
    hand_in = store.waiting.find(int(number)) if number.isdecimal() and len(number) < 10 else None
    if hand_in is None or not store.waiting.try_again(hand_in.id):
        raise UsageError("this hand-in isn't set aside", next_step="look at the list again")
    visit.log("code.try_again", hand_in.item, student=hand_in.student, submission=hand_in.submission)
    visit.notice("It waits again, as if it were new.")
    return visit.redirect("instructor.queue")
