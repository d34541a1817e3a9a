"""The quiz of whoever is signed in: found by its name, with the state of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.errors import QuizError
from engine.marks.class_results import attempt_result
from engine.marks.class_table import ColumnMark, ScoreChange, columns_of_quiz
from engine.marks.site_quizzes import site_quiz
from engine.model import GradeReport, Outcome, Part, QuizQuestion, ResultDisclosure, Variant
from engine.pages.feedback import FeedbackEntry, feedback_entry
from engine.pages.render import OUTCOMES
from engine.quiz.in_progress import SiteQuiz
from engine.quiz.quiz_progress import QuestionProgress, QuizSitting
from engine.quiz.rules import time_left
from engine.quiz.timing import NETWORK_GRACE, SittingState
from engine.store import Attempt
from engine.text.words import as_sentence, count_noun, join_words, points_text
from engine.web.student.answer_fields import blank_parts, open_prompts, read_entry
from engine.web.visit import NotFoundError, Visit


def my_quiz(visit: Visit) -> SiteQuiz:
    """Return the quiz that the address names, handed in if its end has passed.

    Raises
    ------
    NotFoundError
        This person has no such quiz.
    """
    site = visit.site
    name = visit.path["quiz"]
    quizzes = site.store.quizzes(name, visit.me.id) if name in site.store.published.all() else []
    if not quizzes:
        raise NotFoundError("there is no such quiz")
    # The newest draw is the one that the student was given last.
    quiz = site_quiz(
        site.store,
        quizzes[-1],
        site.policies(),
        bank=site.bank,
        mode=site.mode,
        secret=site.course.secret,
    )
    # The job of the site does it within seconds; whoever looks sooner gets the result of the end at once.
    if quiz.close_if_over():
        visit.log("quiz.closed", quiz.quiz.name, student=visit.me.id)
    return quiz


def question_number(visit: Visit, quiz: SiteQuiz) -> int:
    """Return the number of the question that the address names.

    Raises
    ------
    NotFoundError
        The quiz has no such question.
    """
    text = visit.path["number"]
    numbers = {str(question.number): question.number for question in quiz.quiz.questions}
    if text not in numbers:
        raise NotFoundError("this quiz has no such question")
    return numbers[text]


@dataclass(frozen=True, slots=True)
class QuestionState:
    """Where the student is with one question, in a sign, words and a colour that never stands alone.

    Parameters
    ----------
    number : int
    title : str
    points : float
    sign, words, kind : str
    is_handed_in : bool
        Whether what stands in its fields is handed in already, or nothing more can be.
    blank, incomplete : int
        Parts without an answer, and parts that are answered in part.
    trouble : str
        Why an answer can't be handed in as it is: "can't be read", "is too long" or both; empty where it can.
    score : float or None
        The points that count; None where there are none, or where they aren't shown: with the total alone
        they aren't either.
    has_answer : bool
        Whether a part has an answer.
    is_excused : bool
        Whether the student has to do nothing about it, whatever is entered.
    """

    number: int
    title: str
    points: float
    sign: str
    words: str
    kind: str
    is_handed_in: bool
    blank: int
    incomplete: int
    trouble: str
    score: float | None
    has_answer: bool
    is_excused: bool = False

    @property
    def has_gaps(self) -> bool:
        """Whether something of it has no answer."""
        return self.blank + self.incomplete > 0


@dataclass(frozen=True, slots=True)
class QuizMarks:
    """The marks of a quiz's questions by number, as all other pages have them, and what regrades changed.

    A question without a mark counts as it was graded: no rule of the course and nobody has changed that.
    """

    by_number: Mapping[int, ColumnMark] = field(default_factory=dict)
    regraded: Mapping[int, tuple[ScoreChange, ...]] = field(default_factory=dict)
    #: The submission that counts; none where a person has decided instead.
    counted: Mapping[int, str] = field(default_factory=dict)

    def visible(self, quiz: SiteQuiz, question: QuizQuestion) -> ColumnMark | None:
        """Return a question's mark if it may be shown; an excuse says nothing of the answer, and may."""
        mark = self.by_number.get(question.number)
        is_shown = quiz.disclosure_of(question).includes(ResultDisclosure.VERDICT)
        return mark if mark is not None and (is_shown or mark.excused) else None

    def entry(self, quiz: SiteQuiz, question: QuizQuestion) -> FeedbackEntry:
        """Return a question's mark and what regrades changed, as far as they may be shown."""
        column = next(column for column in columns_of_quiz(quiz.quiz) if column.number == question.number)
        is_shown = quiz.disclosure_of(question).includes(ResultDisclosure.VERDICT)
        regraded = self.regraded.get(question.number, ()) if is_shown else ()
        return FeedbackEntry(column, self.visible(quiz, question), regraded=regraded)

    def total(self, sitting: QuizSitting) -> tuple[float | None, float]:
        """Return the points that count in all, and out of how many: without what is excused.

        None stands for the points of a quiz in which nothing counts yet.
        """
        marks = self.by_number
        counting = {n: p for n, p in sitting.progress.items() if n not in marks or not marks[n].is_left_out}
        points = [marks[n].adjusted or 0.0 if n in marks else p.best for n, p in counting.items()]
        has_any = any(p.attempts or n in marks for n, p in counting.items())
        return round(sum(points), 6) if has_any else None, sum(p.question.points for p in counting.values())


def marks_of(visit: Visit, quiz: SiteQuiz) -> QuizMarks:
    """Return the marks of the quiz's questions."""
    results = next(iter(visit.site.results([visit.me.id])), None)
    if results is None:
        return QuizMarks()
    by_column = {item.column: item.mark for item in results.items if item.mark is not None}
    # A 0 for missing work is no result while the work can still be handed in.
    by_column |= {c: mark for c, mark in results.without_work if mark.by_hand or mark.excused}
    changes = {item.column: item.regraded for item in results.items}
    counted = {item.column: item.submission for item in results.items if not _is_decided(item.mark)}
    columns = columns_of_quiz(quiz.quiz)
    return QuizMarks(
        {c.number: by_column[c] for c in columns if c in by_column},
        {c.number: changes[c] for c in columns if c in changes},
        {c.number: counted[c] for c in columns if c in counted},
    )


def _is_decided(mark: ColumnMark | None) -> bool:
    return mark is not None and (mark.by_hand or mark.is_left_out)


def question_states(quiz: SiteQuiz, sitting: QuizSitting, marks: QuizMarks) -> list[QuestionState]:
    """Return the state of every question, in the quiz's order."""
    return [_state(quiz, p, marks.visible(quiz, p.question)) for p in sitting.progress.values()]


# A sign, words and the colour of both.
StateWords = tuple[str, str, str]


def _state(quiz: SiteQuiz, progress: QuestionProgress, mark: ColumnMark | None) -> QuestionState:
    question = progress.question
    parts = question.variant.parts
    texts = quiz.answers(question.number)
    blank = len(blank_parts(parts, texts))
    level = quiz.disclosure_of(question)
    # What a person must mark first has no points yet, and not 0.
    is_known = bool(progress.attempts) and not progress.is_waiting
    best = progress.best if is_known and level.includes(ResultDisclosure.VERDICT) else None
    handed = is_handed_in(quiz, progress)
    # What was handed in says more than what stands in the fields.
    if handed:
        sign, words, kind = _handed_in_words(progress.attempts[-1].report, level)
        if quiz.left_over(progress):
            words += "; a later text isn't handed in"
    else:
        sign, words, kind = _draft_words(parts, texts, is_over=quiz.is_over)
    if mark is not None and mark.excused:
        sign, words, kind = "–", "excused", "waiting"
    elif mark is not None and mark.by_hand and (handed or blank == len(parts)):
        sign, words, kind = "✎", "set by hand", "waiting"
    return QuestionState(
        question.number,
        question.variant.title,
        question.points,
        sign,
        words,
        kind,
        handed,
        blank,
        _incomplete(parts, texts),
        _trouble(parts, texts),
        mark.adjusted if mark is not None else best,
        blank < len(parts),
        mark is not None and mark.excused,
    )


def _handed_in_words(last: GradeReport, level: ResultDisclosure) -> StateWords:
    if last.needs_person:
        return "…", "to be marked", "waiting"
    return (
        OUTCOMES[last.outcome] if level.includes(ResultDisclosure.VERDICT) else ("✓", "handed in", "waiting")
    )


def _draft_words(parts: Sequence[Part], texts: Mapping[str, str], *, is_over: bool) -> StateWords:
    blank, trouble = len(blank_parts(parts, texts)), _trouble(parts, texts)
    if blank == len(parts):
        return "○", "no answer" if is_over else "no answer yet", ""
    if trouble:
        return "?", trouble, "partial"
    if blank or _incomplete(parts, texts):
        return "◔", "partly answered", "waiting"
    return "●", "saved, not handed in", "waiting"


def _trouble(parts: Sequence[Part], texts: Mapping[str, str]) -> str:
    troubles = (read_entry(part, texts.get(part.id, "")).trouble for part in parts)
    return join_words(dict.fromkeys(trouble for trouble in troubles if trouble))


def _incomplete(parts: Sequence[Part], texts: Mapping[str, str]) -> int:
    return sum(bool(open_prompts(part, texts.get(part.id, ""))) for part in parts)


def saved_words(quiz: SiteQuiz, number: int, variant: Variant) -> StateWords:
    """Return the state of a question after a save, by what is stored of this question alone.

    As :func:`question_states` says it when the page is loaded, but for marks, which a save doesn't change.
    """
    texts = quiz.answers(number)
    attempts = quiz.attempts_at(number)
    now = {part.id: texts.get(part.id, "") for part in variant.parts}
    if attempts and (not "".join(now.values()).strip() or _is_answer_of(attempts[-1], variant, now)):
        question = next(q for q in quiz.quiz.questions if q.number == number)
        return _handed_in_words(attempts[-1].report, quiz.disclosure_of(question))
    return _draft_words(variant.parts, texts, is_over=quiz.is_over)


def may_gain(quiz: SiteQuiz, progress: QuestionProgress) -> bool:
    """Return whether another attempt may be offered: while verdicts are hidden, to right answers too."""
    if not progress.attempts or not quiz.disclosure_of(progress.question).includes(ResultDisclosure.VERDICT):
        return progress.left > 0
    return progress.could_gain


def is_handed_in(quiz: SiteQuiz, progress: QuestionProgress) -> bool:
    """Return whether what stands in a question's fields is handed in, or no attempt is left for it."""
    if not progress.attempts:
        return False
    if not (quiz.can_answer(progress) and may_gain(quiz, progress)):
        return True
    variant, texts = progress.question.variant, quiz.answers(progress.question.number)
    now = {part.id: texts.get(part.id, "") for part in variant.parts}
    # Empty fields after an attempt are no further answer, and aren't handed in as one.
    if not "".join(now.values()).strip():
        return True
    return _is_answer_of(progress.attempts[-1], variant, now)


def _is_answer_of(attempt: Attempt, variant: Variant, texts: Mapping[str, str]) -> bool:
    """Return whether an attempt answers this very variant with these texts."""
    answered = dict(attempt.response.answers) if attempt.response else {}
    return attempt.variant is not None and attempt.variant.id == variant.id and answered == texts


@dataclass(frozen=True, slots=True)
class QuestionAttempt:
    """One attempt at a question, as far as it may be shown.

    Parameters
    ----------
    number : int
        1 is the first.
    entry : FeedbackEntry
        With the variant that was answered.
    is_other : bool
        Whether that isn't the variant which the question has now.
    counts : bool
        Whether it is the one of several that counts, where that may be shown.
    is_free : bool
        Whether it couldn't be read, so that it used no attempt.
    """

    number: int
    entry: FeedbackEntry
    is_other: bool
    counts: bool
    is_free: bool = False


def attempt_entries(
    visit: Visit, quiz: SiteQuiz, progress: QuestionProgress, marks: QuizMarks
) -> list[QuestionAttempt]:
    """Return the attempts at a question, oldest first.

    What couldn't be read at the end of the quiz was handed in and is shown, though it is no attempt.
    """
    attempts: Sequence[Attempt] = progress.attempts or _unreadable(visit, quiz, progress)
    number, variant = progress.question.number, progress.question.variant
    policies, counted = visit.site.policies(), marks.counted.get(number)
    entries = []
    for place, attempt in enumerate(attempts, start=1):
        entry = feedback_entry(visit.me.id, attempt_result(attempt, attempts, quiz.quiz, policies))
        is_shown = entry.report is not None and entry.report.score is not None and len(attempts) > 1
        is_other = attempt.variant is not None and attempt.variant.id != variant.id
        is_counted = is_shown and attempt.submission == counted
        is_free = attempt.report.outcome is Outcome.FORMAT_ERROR
        entries.append(QuestionAttempt(place, entry, is_other, is_counted, is_free))
    return entries


def _unreadable(visit: Visit, quiz: SiteQuiz, progress: QuestionProgress) -> list[Attempt]:
    if not quiz.is_over:
        return []
    store, mode, item = visit.site.store, visit.site.mode, progress.question.variant.item
    mine = store.attempts(student=visit.me.id, item=item, mode=mode, outcome=Outcome.FORMAT_ERROR)
    ids = store.sittings.ids_alike(quiz.quiz, mode)
    return [attempt for attempt in mine if attempt.quiz in ids]


@dataclass(frozen=True, slots=True)
class Clock:
    """The time left, as a page shows it; ``seconds`` is None where there is no end."""

    seconds: int | None
    words: str
    ends: datetime | None
    is_limited: bool
    # How much later than the end a page looks for what came of it: the server takes what was sent until then.
    grace: int = int(NETWORK_GRACE.total_seconds()) + 2


def clock_of(visit: Visit, quiz: SiteQuiz) -> Clock:
    """Return the time that is left of a sitting."""
    ends = quiz.ends
    words = "" if ends is None else time_left(ends, visit.now)
    return Clock(quiz.seconds_left, words, ends, quiz.rules.time_limit is not None)


def quiz_sentence(error: QuizError) -> str:
    """Return why something isn't possible (any more), and what to do, as a notice."""
    return " ".join(as_sentence(text) for text in (error.what, error.next_step) if text)


def require_begun(quiz: SiteQuiz) -> None:
    """Raise a :class:`NotFoundError` before a quiz shows its questions: nobody reads them ahead."""
    if quiz.state in (SittingState.NOT_YET, SittingState.READY):
        raise NotFoundError("this quiz hasn't begun")


def attempts_text(quiz: SiteQuiz, progress: QuestionProgress) -> str:
    """Return which attempt is next, of how many; of the only one, that it is final."""
    allowed = quiz.rules.attempts or 1
    if allowed == 1 and quiz.is_over:
        return ""
    used, of_all = min(len(progress.attempts), allowed), count_noun(allowed, "attempt")
    if used < allowed and not progress.left:
        return f"{used} of {of_all} used; there is no other variant, so this was the last"
    if quiz.is_over or (used and is_handed_in(quiz, progress)):
        return f"{used} of {of_all} used{_why_no_other(quiz, progress)}"
    texts = quiz.answers(progress.question.number)
    trouble = _trouble(progress.question.variant.parts, texts)
    # Whoever presses the button must know before that there is no second one.
    which = f"attempt {used + 1} of {allowed}" if allowed > 1 else "one attempt: what you hand in is final"
    # Whoever has just been refused wants to know that it cost nothing.
    return which + (f"; an answer that {trouble} uses none" if trouble else "")


def _why_no_other(quiz: SiteQuiz, progress: QuestionProgress) -> str:
    """Return why no further attempt is offered though one is left; empty where nobody would ask."""
    if quiz.is_over or may_gain(quiz, progress) or progress.is_right:
        return ""
    if progress.is_waiting:
        return "; once this one is marked, you will see whether another could earn more"
    most = points_text(round(progress.share * progress.question.points, 6))
    return f"; another could earn {most} at most, which is no more than you have" if progress.left else ""
