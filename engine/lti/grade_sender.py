"""Sends the marks of the outbox to learning systems, each until it is taken.

A mark is noted as sent after the learning system has said so. Whoever is killed in between sends it again
with the same time, which replaces it by itself: a column has one mark for each user.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pylti1p3.grade import Grade

from engine.crash_points import reached
from engine.errors import LtiError, PlatformAwayError
from engine.lti.marks_for_lms import MarkSource, with_line_item, without_line_item
from engine.lti.service_calls import LINE_ITEM_SCOPE, AccessTokens, PlatformCalls, ScoreIsOlderError
from engine.lti.signing_keys import signing_key
from engine.store import Store
from engine.store.lti import LtiLink, LtiPlatform
from engine.store.lti_outbox import NO_MARK, OutboxRow
from engine.text.words import clean_line

log = logging.getLogger("softmark.lti")

_LEASE = timedelta(minutes=2)  # longer than one mark can take: token and mark, each within its limit
_FIRST_PAUSE, _LONGEST_PAUSE = timedelta(seconds=10), timedelta(hours=6)
_DISABLED_PAUSE = timedelta(days=1)
# Canvas makes a new attempt of each mark unless it is told that there is none.
_CANVAS = "https://canvas.instructure.com/lti/submission"

_PROGRESS = {
    "graded": "FullyGraded",
    "pending": "Pending",
    "manual": "PendingManual",
    "failed": "Failed",
    NO_MARK: "NotReady",
}


@dataclass
class SentMarks:
    """What a round of sending has done."""

    sent: int = 0
    failed: int = 0
    reasons: set[str] = field(default_factory=set)


class GradeSender:
    """Sends marks; one for each process, safe beside those of other processes.

    Parameters
    ----------
    store : Store
    clock : callable
        Returns the present moment.
    """

    def __init__(self, store: Store, *, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._tokens = AccessTokens()
        # Link → when its column is looked for again, and after how many tries.
        self._columns: dict[tuple[int, str, str], tuple[datetime, int]] = {}

    def calls(self, platform: LtiPlatform) -> PlatformCalls:
        """Return the requests to a learning system, with the tokens that are still valid."""
        return PlatformCalls(platform, signing_key(self._store, self._clock()), self._tokens)

    def find_columns(self, source: MarkSource) -> None:
        """Find or make the columns of links that came without one."""
        for link in without_line_item(self._store.lti.links()):
            key = (link.platform, link.deployment, link.link)
            next_try, tries = self._columns.get(key, (datetime.min, 0))
            now = self._clock()
            if (tries and now < next_try) or LINE_ITEM_SCOPE not in link.scopes:
                continue
            # Two processes at once would make two columns: the gradebook would show both.
            if not self._store.lti_outbox.hold(f"column {key}", now, lease=_LEASE):
                continue
            try:
                self._find_column(link, source)
                self._columns.pop(key, None)
            except LtiError as error:
                log.warning("no column for %s: %s (%s)", link.assignment, error.what, error.got)
                self._columns[key] = (now + max(_pause(tries, error), _LEASE), tries + 1)

    def _find_column(self, link: LtiLink, source: MarkSource) -> None:
        platform = self._store.lti.platform(link.platform)
        assert link.assignment is not None and link.line_items is not None
        maximum = source.full_points(link.assignment)
        if platform is None or platform.disabled is not None or not maximum:
            return
        label = clean_line(link.title or source.title_of(link.assignment), 200)
        address = self.calls(platform).line_item_of(
            link.line_items, link.link, label, maximum, link.assignment
        )
        self._store.lti.put_link(with_line_item(link, address))

    def send(self, *, most: int = 500) -> SentMarks:
        """Send what is due, until nothing is or `most` marks were tried; learning systems that are away wait.

        Returns
        -------
        SentMarks
        """
        result = SentMarks()
        platforms = {platform.id: platform for platform in self._store.lti.platforms()}
        away: dict[int, datetime] = {}
        for _ in range(most):
            rows = self._store.lti_outbox.claim(self._clock(), lease=_LEASE, most=1)
            if not rows:
                break
            (row,) = rows
            platform = platforms.get(row.mark.platform)
            if platform is None or platform.disabled is not None:
                self._store.lti_outbox.release(row, self._clock() + _DISABLED_PAUSE)
            elif platform.id in away:
                self._store.lti_outbox.release(row, away[platform.id])
            else:
                error = self._send(platform, row)
                if error is None:
                    result.sent += 1
                    continue
                next_try = self._clock() + _pause(row.tries, error)
                self._store.lti_outbox.note_failed(row, _reason(error), next_try)
                result.failed += 1
                result.reasons.add(_reason(error))
                if isinstance(error, PlatformAwayError):
                    # The others of this system would only fail as well.
                    away[platform.id] = next_try
                log.warning("a mark for %s isn't taken: %s", clean_line(platform.name, 80), _reason(error))
        return result

    def _send(self, platform: LtiPlatform, row: OutboxRow) -> LtiError | None:
        calls = self.calls(platform)
        # A mark that the system has, or may have, is no new attempt at the assignment.
        is_new = row.sent is None and row.tries == 0
        try:
            try:
                calls.put_score(row.mark.line_item, _grade(row, is_new=is_new))
            except ScoreIsOlderError:
                # Ours may have arrived without our knowing; a later time makes sure that it is this one.
                row = self._store.lti_outbox.move_time(row, self._clock())
                calls.put_score(row.mark.line_item, _grade(row, is_new=False))
        except LtiError as error:
            return error
        reached("lti-mark-sent")
        self._store.lti_outbox.note_sent(row)
        return None


def _grade(row: OutboxRow, *, is_new: bool) -> Grade:
    mark = row.mark
    grade = Grade()
    grade.set_user_id(mark.subject).set_score_maximum(mark.maximum)
    if mark.score is not None:
        grade.set_score_given(max(0.0, mark.score))
    activity = "Completed" if mark.is_final and mark.score is not None else "Submitted"
    # As the specification calls an activity that has been reset for a student: a mark sent before is cleared.
    grade.set_activity_progress("Initialized" if mark.progress == NO_MARK else activity)
    grade.set_grading_progress(_PROGRESS[mark.progress])
    grade.set_timestamp(row.at.isoformat(timespec="milliseconds"))
    if mark.comment:
        grade.set_comment(mark.comment)
    grade.set_extra_claims({_CANVAS: {"new_submission": is_new}})
    return grade


def _pause(tries: int, error: LtiError) -> timedelta:
    # What isn't a matter of time is a matter of people: it is tried less often.
    first = _FIRST_PAUSE if isinstance(error, PlatformAwayError) else 30 * _FIRST_PAUSE
    pause = min(first * (1 << min(tries, 12)), _LONGEST_PAUSE)
    if isinstance(error, PlatformAwayError) and error.retry_after is not None:
        pause = max(pause, min(timedelta(seconds=error.retry_after), _LONGEST_PAUSE))
    return pause


def _reason(error: LtiError) -> str:
    return f"{error.what}: {error.got}" if error.got else error.what
