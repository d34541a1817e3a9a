"""A quiz as a whole: its rules and how it begins, the list of its questions, and how it is handed in.

A sitting that is over is handed in by itself, though no browser is open.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from engine.errors import QuizError, SoftmarkError, StoreError
from engine.marks.site_quizzes import hand_in_overdue
from engine.model import Quiz, ResultDisclosure
from engine.quiz import rules as quiz_rules
from engine.quiz.in_progress import SiteQuiz
from engine.quiz.rules import rules_text
from engine.quiz.timing import SittingState
from engine.store.audit import AuditEntry
from engine.store.timed import TimedSitting
from engine.text.words import count_noun, join_words
from engine.web.background import PeriodicJob
from engine.web.site import Site
from engine.web.student.my_quiz import (
    QuestionState,
    QuizMarks,
    clock_of,
    marks_of,
    my_quiz,
    question_states,
    quiz_sentence,
)
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

log = logging.getLogger("softmark.web")


def quiz(visit: Visit) -> Response:
    """Show the quiz: how it begins, or its questions with where the student is."""
    sitting_quiz = my_quiz(visit)
    state = sitting_quiz.state
    questions = len(sitting_quiz.quiz.questions)
    if state in (SittingState.NOT_YET, SittingState.READY):
        return visit.page(
            "student/begin.html.j2",
            quiz=sitting_quiz,
            rules=_rules(visit, sitting_quiz),
            count=questions,
            points_in_all=sum(question.points for question in sitting_quiz.quiz.questions),
            opens=sitting_quiz.times.opens if state is SittingState.NOT_YET else None,
        )
    sitting = sitting_quiz.sitting()
    shows_score = sitting_quiz.disclosure.includes(ResultDisclosure.SCORE)
    marks = marks_of(visit, sitting_quiz)
    states = question_states(sitting_quiz, sitting, marks)
    score, maximum = marks.total(sitting)
    return visit.page(
        "student/quiz.html.j2",
        quiz=sitting_quiz,
        rules=_rules(visit, sitting_quiz),
        states=states,
        clock=clock_of(visit, sitting_quiz),
        is_open=state is SittingState.OPEN,
        waiting=[s for s in states if not s.is_handed_in and s.has_answer],
        next_one=next((s for s in states if not s.is_handed_in and not s.has_answer), None),
        is_new=not any(s.is_handed_in or s.has_answer for s in states),
        score=score if shows_score else None,
        maximum=maximum,
        is_waiting=sitting.is_waiting,
    )


def _rules(visit: Visit, quiz: SiteQuiz) -> list[str]:
    """Return the quiz's rules, with its deadline in the course's zone."""
    rules, zone = quiz.rules, visit.site.course.policies.zone
    deadline = rules.deadline.astimezone(zone) if rules.deadline else None
    # A blueprint that doesn't say how many means one on the site; students must read that, too.
    return rules_text(replace(rules, deadline=deadline, attempts=rules.attempts or 1))


def begin(visit: Visit) -> Response:
    """Begin a sitting with a time limit; a second click finds it begun."""
    sitting_quiz = my_quiz(visit)
    # A second click, or one in another window, finds it begun.
    if sitting_quiz.state is SittingState.READY:
        sitting_quiz.begin()
        visit.log("quiz.begun", sitting_quiz.quiz.name, student=visit.me.id)
    first = sitting_quiz.quiz.questions[0].number if sitting_quiz.quiz.questions else 1
    if sitting_quiz.state is not SittingState.OPEN:
        return visit.redirect("student.quiz", quiz=visit.path["quiz"])
    return visit.redirect("student.question", quiz=visit.path["quiz"], number=first)


def hand_in(visit: Visit) -> Response:
    """Ask before everything is handed in, naming what is blank or can't be read; then do it."""
    sitting_quiz = my_quiz(visit)
    if sitting_quiz.state is not SittingState.OPEN:
        visit.notice(_too_late(sitting_quiz))
        return visit.redirect("student.quiz", quiz=visit.path["quiz"])
    sitting = sitting_quiz.sitting()
    states = question_states(sitting_quiz, sitting, QuizMarks())
    if visit.method == "GET":
        waiting = [state for state in states if not state.is_handed_in]
        return visit.page(
            "student/confirm_quiz.html.j2",
            quiz=sitting_quiz,
            clock=clock_of(visit, sitting_quiz),
            blank=[state for state in waiting if state.has_gaps],
            faulty=[state for state in waiting if state.trouble],
            waiting=waiting,
            ends=sitting_quiz.rules.time_limit is not None,
        )
    # With a time limit it is one sitting, which handing in ends; otherwise further attempts stay possible.
    ends = sitting_quiz.rules.time_limit is not None
    try:
        result = sitting_quiz.finish() if ends else sitting_quiz.hand_in()
    except QuizError as error:
        # Between two clicks the quiz has ended, or another window was faster with one of the answers.
        visit.notice(quiz_sentence(error))
        return visit.redirect("student.quiz", quiz=visit.path["quiz"])
    # All or nothing: the attempts at the other questions mustn't be used up by what has to be corrected.
    if not result.recorded:
        faulty = [state for state in states if state.trouble and not state.is_handed_in]
        which = f"question {faulty[0].number}"
        if len(faulty) > 1:
            which = f"questions {join_words(str(state.number) for state in faulty)}"
        trouble = join_words(dict.fromkeys(state.trouble for state in faulty), "or")
        visit.notice(
            f"Nothing is handed in yet: the answer to {which} {trouble}. "
            "Correct it and hand in again; no attempt was used."
        )
    else:
        visit.log("quiz.handed_in", sitting_quiz.quiz.name, student=visit.me.id)
        visit.notice(_what_was_handed_in(states))
    return visit.redirect("student.quiz", quiz=visit.path["quiz"])


def _what_was_handed_in(states: Sequence[QuestionState]) -> str:
    count = sum(not state.is_handed_in and state.has_answer for state in states)
    if count:
        return f"{count_noun(count, 'answer')} handed in."
    is_all = all(state.is_handed_in for state in states)
    return "Everything is handed in." if is_all else "There was no further answer to hand in."


def _too_late(quiz: SiteQuiz) -> str:
    if quiz.state is SittingState.OVER:
        return "The quiz is over. What you saved before its end is handed in."
    return "The quiz hasn't begun."


_TOGETHER = 25  # lines of the log in a transaction, which waits for the disk


class SittingWatch:
    """Hands in what was saved in sittings that are over.

    Those that were to end by now are looked at in every round. That an end has come earlier (a deadline was
    moved) shows only in the quiz and the course's rules, which cost reading: of the others some are looked at
    in each round, in turn. Where one of them is over, its whole class may be: all of the same quiz are
    looked at then.
    """

    _IN_TURN = 10

    def __init__(self) -> None:
        self._round = 0
        # A fault that stays is tried again every two seconds, and noted once.
        self._noted: set[tuple[str, str, str]] = set()

    def __call__(self, site: Site) -> None:
        """Hand in what is over now."""
        now = quiz_rules.now()
        waiting = site.store.timed.not_handed_in()
        due = [sitting for sitting in waiting if sitting.ended is not None or sitting.ends < now]
        later = [sitting for sitting in waiting if sitting.ended is None and sitting.ends >= now]
        # Far apart in a list that is in the order of the quizzes: one of each, if they aren't too many.
        step = max(1, -(-len(later) // self._IN_TURN))
        at = self._round % step
        self._round += 1
        over, fault = self._hand_in(site, now, [*due, *later[at::step]])
        if over:
            names = site.store.sittings.names_by_id()
            del later[at::step]
            alike = [s for s in later if names.get((s.quiz_id, s.student)) in over]
            _, more = self._hand_in(site, now, alike)
            fault = fault or more
        if fault is not None:  # after all the others
            raise fault

    def _hand_in(
        self, site: Site, now: datetime, among: Sequence[TimedSitting]
    ) -> tuple[set[str], StoreError | None]:
        """Hand in those of these sittings that are over; return the names of their quizzes, and a fault."""
        names: set[str] = set()
        handed_in = hand_in_overdue(
            site.store,
            site.policies(),
            now,
            bank=site.bank,
            mode=site.mode,
            secret=site.course.secret,
            among=among,
        )
        fault = None
        entries = []
        try:
            for overdue, result in handed_in:
                names.add(overdue.quiz.name)
                if isinstance(result, SoftmarkError):
                    self._note(overdue.quiz, result)
                else:
                    quiz = overdue.quiz
                    entries.append(AuditEntry(now, "", "site", "quiz.closed", quiz.name, quiz.student))
                    if len(entries) == _TOGETHER:
                        site.store.audit.add_all(entries)
                        entries = []
        except StoreError as error:  # a quiz that can't be read
            fault = error
        site.store.audit.add_all(entries)
        return names, fault

    def _note(self, quiz: Quiz, error: SoftmarkError) -> None:
        fault = (quiz.id, quiz.student, error.what)
        if fault not in self._noted:
            self._noted.add(fault)
            log.error("a sitting of %s can't be handed in: %s", quiz.name, error.what)


JOBS = (PeriodicJob("end-sittings", 2.0, SittingWatch()),)
