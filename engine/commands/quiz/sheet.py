"""A quiz that is being taken: its answers, its file, and where it stands in the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engine.commands.terminal import say
from engine.errors import QuizError
from engine.text.files import replace_text

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.hand_ins import FilledQuiz
    from engine.model import Mode, Part, Quiz, QuizRules, ResultDisclosure, Variant
    from engine.quiz.hand_in import HandedIn
    from engine.quiz.release import QuestionRelease
    from engine.quiz.sitting import QuestionStanding, QuizSitting
    from engine.store import Store

__all__ = [
    "QuizInProgress",
    "key_lines",
    "results_json",
    "show_results",
    "show_standing",
    "solution_lines",
    "tell_when",
]


class QuizInProgress:
    """The answers of one sitting; nothing here prints.

    Parameters
    ----------
    context : CommandContext
    store : Store
        That holds `quiz`; open as long as the sheet is used.
    quiz : Quiz
        As stored.
    path : Path
        The fill-in file.
    filled : FilledQuiz
        What the file holds.

    Raises
    ------
    QuizError
        The file names a variant that was never drawn.
    """

    def __init__(
        self, context: CommandContext, store: Store, quiz: Quiz, path: Path, filled: FilledQuiz
    ) -> None:
        from engine.quiz import as_answered

        self._context, self._store = context, store
        self.quiz, self.path = quiz, path
        self._answers = {number: dict(parts) for number, parts in filled.answers.items()}
        self._retries = dict(filled.retries)
        as_answered(store, quiz, self._retries)

    @property
    def mode(self) -> Mode:
        """Practice or marks."""
        return self._context.mode

    @property
    def rules(self) -> QuizRules:
        """The quiz's rules."""
        return self.quiz.rules

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        from engine.quiz import release as clock

        return self.rules.is_over(clock.now())

    @property
    def shown(self) -> ResultDisclosure:
        """How much of a result is shown now."""
        from engine.quiz import release as clock

        return self.rules.shown(clock.now())

    def sitting(self) -> QuizSitting:
        """Return where the student stands now."""
        from engine.quiz.sitting import sitting_of

        return sitting_of(self._store, self.quiz, self.mode, self._context.bank, self._retries)

    def answers(self, number: int) -> dict[str, str]:
        """Return the answers to a question, by part; they may be changed."""
        return self._answers.setdefault(number, {})

    def clear(self, number: int) -> None:
        """Forget the answers to a question."""
        self._answers[number] = {}

    def blank(self, standing: QuestionStanding) -> bool:
        """Tell whether a question has a part without an answer."""
        answers = self.answers(standing.question.number)
        return any(not answers.get(part.id, "").strip() for part in standing.question.variant.parts)

    def save(self) -> None:
        """Write all answers into the file, and wait until the disk has them."""
        from engine.quiz import fill_in_text

        text = fill_in_text(self.sitting().quiz, self._answers)
        try:
            replace_text(self.path, text, durable=True)
        except OSError as error:
            raise QuizError(
                "the answers can't be saved",
                where=str(self.path),
                got=error.strerror,
                next_step="make room, or copy the file to a folder that you may write to, and take it there",
            ) from error

    def take_hint(self, standing: QuestionStanding) -> QuestionStanding:
        """Write down that the next hint is taken; only then it may be shown."""
        number = standing.question.number
        self._store.sittings.take_hint(self.quiz, number, self.mode, standing.hints + 1)
        return self.sitting().standings[number]

    def waiting(self) -> list[int]:
        """Return the questions whose answer isn't handed in yet."""
        from engine.model import Response
        from engine.store import response_sha256

        found = []
        for number, standing in self.sitting().standings.items():
            variant = standing.question.variant
            typed = {part.id: self.answers(number).get(part.id, "") for part in variant.parts}
            sha = response_sha256(variant.id, Response(typed), self.quiz.id)
            known = self._store.graded(self.quiz.student, variant.item, sha, self.mode)
            if any(text.strip() for text in typed.values()) and known is None:
                found.append(number)
        return found

    def was_handed_in(self) -> bool:
        """Tell whether anything was handed in before."""
        found = self._store.attempts(student=self.quiz.student, quiz=self.quiz.id, mode=self.mode)
        return next(found, None) is not None

    def hand_in(self) -> HandedIn:
        """Hand in all answers as they are now."""
        from engine.hand_ins import FilledQuiz
        from engine.quiz import hand_in

        filled = FilledQuiz(self.quiz.id, self._answers, {}, self._retries)
        return hand_in(self._store, self.quiz, filled, mode=self.mode, filename=self.path.name)

    def reopen(self, standing: QuestionStanding) -> bool:
        """Make a question ready for another attempt; False where it has no other variant."""
        from engine.quiz.sitting import next_variant

        context = self._context
        question = next_variant(self._store, context.bank, context.secret(), self.quiz, standing)
        if question is None:
            return False
        self._answers[question.number] = {}
        self._retries[question.number] = question.retry
        self.save()
        return True


# ----------------------------------------------------------------------------------------------------
# What a student sees after handing in: as much as the quiz's rules show now.


def showings(handed: HandedIn, sitting: QuizSitting, level: ResultDisclosure) -> list[QuestionRelease]:
    """Return what is shown of each question of a hand-in."""
    from engine.quiz import release as clock
    from engine.quiz.release import shown_report

    over = handed.quiz.rules.is_over(clock.now())
    found = []
    for question, report in zip(handed.quiz.questions, handed.reports, strict=True):
        standing = sitting.standings[question.number]
        final = over or standing.left == 0 or standing.is_right
        found.append(shown_report(report, question.variant, level, is_final=final))
    return found


def show_results(
    handed: HandedIn, sitting: QuizSitting, level: ResultDisclosure, numbers: Iterable[int] | None = None
) -> None:
    """Print the questions in `numbers` (all by default) of a hand-in, one by one."""
    from engine.commands.render import show_report

    wanted = None if numbers is None else set(numbers)
    for question, showing in zip(handed.quiz.questions, showings(handed, sitting, level), strict=True):
        if showing.report is None or (wanted is not None and question.number not in wanted):
            continue
        click.echo(f"Question {question.number}")
        show_report(showing.report)
        if showing.with_solution:
            for line in solution_lines(question.variant):
                say(line)
        click.echo()


def solution_lines(variant: Variant) -> list[str]:
    """Return keys and worked solution of a variant."""
    lines = [line for part in variant.parts for line in key_lines(part, alone=len(variant.parts) == 1)]
    if variant.solution is not None:
        lines.append(f"Solution: {variant.solution.plain}")
    return lines


def key_lines(part: Part, *, alone: bool) -> list[str]:
    """Return the key of a part, with the texts of the options that it names."""
    from engine.answers import right_response

    name = "Key" if alone else f"Key of {part.id}"
    lines = [f"{name}: {right_response(part)}"]
    if part.type in ("single_choice", "multiple_choice"):
        lines += [f"  ({option.id}) {option.text.plain}" for option in part.options if option.correct]
    return lines


def show_standing(sitting: QuizSitting, level: ResultDisclosure) -> None:
    """Print a table of attempts, hints and best scores; columns that say nothing are left out."""
    from engine.commands.render import show_table
    from engine.model import ResultDisclosure
    from engine.text.words import plain_points

    rules = sitting.quiz.rules
    limit = rules.attempts or 1
    columns = ["question", "attempts", *(["hints"] if rules.hint_cost is not None else [])]
    verdicts = level.includes(ResultDisclosure.VERDICT)
    columns += [*(["best"] if verdicts else []), *(["next at most"] if limit > 1 else [])]
    rows = []
    for place, standing in sitting.standings.items():
        row = [str(place), f"{len(standing.attempts)} of {limit}"]
        if rules.hint_cost is not None:
            row.append(str(standing.hints))
        points = standing.question.points
        if verdicts:
            row.append(
                f"{plain_points(standing.best)} of {plain_points(points)}" if standing.attempts else "open"
            )
        if limit > 1:
            # while verdicts are hidden, what is left mustn't tell them
            worth = standing.could_gain if verdicts else standing.left > 0
            row.append(str(plain_points(standing.share * points)) if worth else "-")
        rows.append(row)
    show_table(columns, rows)


def tell_when(rules: QuizRules) -> str:
    """Return when results are shown that aren't shown now."""
    from engine.quiz.release import deadline_text

    if rules.deadline is None:
        return "Handed in. This quiz shows no results."
    return f"Handed in. Results are shown after {deadline_text(rules.deadline)}."


def results_json(handed: HandedIn, sitting: QuizSitting, level: ResultDisclosure) -> dict[str, Any]:
    """Return a hand-in as ``--json`` shows it: nothing that the level hides."""
    from engine.model import ResultDisclosure
    from engine.quiz import total
    from engine.text.words import plain_points

    document: dict[str, Any] = {"quiz": handed.quiz.id, "recorded": handed.recorded, "shown": str(level)}
    shown = showings(handed, sitting, level)
    if level.includes(ResultDisclosure.SCORE) or not handed.recorded:
        score, maximum = total(handed.reports)
        document |= {
            "score": None if score is None else plain_points(score),
            "max_score": plain_points(maximum),
            "best": plain_points(sitting.score),
        }
    document["reports"] = [showing.report.as_json() for showing in shown if showing.report is not None]
    if any(showing.with_solution for showing in shown):
        document["solutions"] = {
            str(question.number): solution_lines(question.variant)
            for question, showing in zip(handed.quiz.questions, shown, strict=True)
            if showing.with_solution
        }
    return document
