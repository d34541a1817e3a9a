"""``grade quiz take``: a quiz in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, store_option
from engine.commands.terminal import ask, confirm, drop_typed, running, say
from engine.errors import ResponseFormatError, UsageError
from engine.text.escape import clean_line
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.commands.context import CommandContext
    from engine.commands.quiz.sheet import QuizInProgress
    from engine.model import Part, Quiz, QuizRules
    from engine.quiz.sitting import QuestionStanding

__all__ = ["QuizDialogue", "take", "take_quiz"]


@click.command("take")
@click.argument("quiz_file", metavar="QUIZ.yaml|BLUEPRINT", default="l16")
@click.option(
    "--attempt", type=click.IntRange(0, 1000), default=0, help="Another attempt at a practice quiz."
)
@course_option
@store_option
def take(quiz_file: str, attempt: int, course_path: Path | None) -> int:
    """Answer a quiz in the terminal: a fill-in file, or a practice quiz from a blueprint.

    Each answer is saved in the file at once, so you can stop with Ctrl-C and go on later. Where the quiz
    allows it, ? asks for a hint (its cost is shown before), and a wrong answer can be tried again.
    A quiz from a blueprint is practice, inside a course too: nothing of it counts.

    Exit code 0: all right, or handed in where no result is shown; 1: not all right, or stopped.

    \b
    Examples:
      grade quiz take quiz.yaml
      grade quiz take l16
    """
    from engine.commands.context import find_context
    from engine.commands.quiz.new import find_blueprint, is_quiz_file, make_quizzes

    context = find_context(course_path)
    if quiz_file.endswith((".yaml", ".yml")) and is_quiz_file(Path(quiz_file)):
        return take_quiz(context, Path(quiz_file))
    path = find_blueprint(context, quiz_file)
    practice = context.practice
    quizzes = make_quizzes(practice, path, ["me"], path.stem, attempt)
    drop_typed()
    return take_quiz(practice, _write_practice_quiz(quizzes[0]))


def _write_practice_quiz(quiz: Quiz) -> Path:
    """Write one practice quiz into this folder, or go on with the file that is there."""
    from engine.commands.quiz.new import file_stem
    from engine.quiz import fill_in_text

    path = Path(f"{file_stem(quiz)}.yaml")
    try:
        if not path.exists():
            path.write_text(fill_in_text(quiz), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            "the quiz can't be written here",
            where=str(path),
            got=error.strerror or str(error),
            next_step="go to a folder that you may write to, and take it there",
        ) from error
    return path


# ----------------------------------------------------------------------------------------------------
# One question in the terminal: stem, hints with their cost, an answer that can be read.


@dataclass(frozen=True)
class QuizDialogue:
    """Asks the questions of one quiz.

    Parameters
    ----------
    rules : QuizRules
    total : int
        Number of questions.
    take_hint : callable
        Writes down that the next hint of a question is taken, and returns the question's new standing.
    answered : callable
        Called after every answer, before the next one is asked for; raises if it came too late.
    """

    rules: QuizRules
    total: int
    take_hint: Callable[[QuestionStanding], QuestionStanding]
    answered: Callable[[], None]

    def ask(self, standing: QuestionStanding, answers: MutableMapping[str, str]) -> None:
        """Ask for what is still blank in `answers` and write it there, part by part."""
        from rich.text import Text as RichText

        from engine.commands.render import console, show_part

        parts = standing.question.variant.parts
        missing = [part for part in parts if not answers.get(part.id, "").strip()]
        if not missing:
            return
        out = console()
        variant = standing.question.variant
        self._head(standing)
        out.print(RichText(variant.stem.plain))
        for note in variant.notes:
            out.print(RichText("Note: " + note.plain, style="yellow"))
        for number, hint in enumerate(standing.hints_seen, start=1):
            out.print(RichText(f"Hint {number}: {hint.plain}"))
        alone = len(parts) == 1
        for part in missing:
            show_part(out, part, alone=alone)
            text, standing = self._answer(part, standing, "answer" if alone else part.id)
            self._write(answers, part.id, text)

    def _write(self, answers: MutableMapping[str, str], part: str, text: str) -> None:
        """Write an answer down unless it came too late."""
        before = answers.get(part, "")
        answers[part] = text
        try:
            self.answered()
        except BaseException:
            answers[part] = before
            raise

    def _head(self, standing: QuestionStanding) -> None:
        from engine.commands.render import console
        from engine.text.words import points_text

        question = standing.question
        words = [f"Question {question.number} of {self.total}", points_text(question.points)]
        if standing.attempts:
            words.append(f"attempt {len(standing.attempts) + 1} of {self.rules.attempts or 1}")
        if standing.share < 1:
            words.append(f"now at most {points_text(standing.share * question.points)}")
        head = " · ".join(words)
        say()
        if sys.stdout.isatty():
            console().rule(head, align="left")
        else:
            say(head)

    def _answer(self, part: Part, standing: QuestionStanding, name: str) -> tuple[str, QuestionStanding]:
        from engine.answers import answer_type, blank_hint

        say(f"  {blank_hint(part)}{self._hint_offer(standing)}")
        last = standing.last_answers.get(part.id, "").strip()
        if last:
            say(f"  last time: {clean_line(last)} (= repeats it)")
        while True:
            text: str = click.prompt(name, default="", show_default=False)
            if text.strip() == "?":
                standing = self._hint(standing)
                continue
            if not text.strip():
                return "", standing
            text = last if text.strip() == "=" and last else text
            try:
                answer_type(part.type).parse(text, part)
            except ResponseFormatError as error:
                say("\n".join(error.lines()))
                continue
            return text, standing

    def _hint_offer(self, standing: QuestionStanding) -> str:
        left = len(standing.question.variant.hints) - standing.hints
        if self.rules.hint_cost is None or left <= 0:
            return ""
        return f" (? for a hint: {left} left)"

    def _hint(self, standing: QuestionStanding) -> QuestionStanding:
        """Offer the next hint with what it costs; give it if that is taken."""
        hints = standing.question.variant.hints
        if self.rules.hint_cost is None or not hints:
            none = "quiz gives" if self.rules.hint_cost is None else "question has"
            say(f"This {none} no hints.")
            return standing
        if standing.hints >= len(hints):
            for number, hint in enumerate(standing.hints_seen, start=1):
                say(f"Hint {number}: {hint.plain}")
            say("That was the last hint.")
            return standing
        if self.rules.hint_cost and not confirm(self._cost(standing)):
            return standing
        standing = self.take_hint(standing)
        say(f"Hint {standing.hints} of {len(hints)}: {hints[standing.hints - 1].plain}")
        return standing

    def _cost(self, standing: QuestionStanding) -> str:
        from engine.text.words import plain_points, points_text

        full = standing.question.points
        after = self.rules.share(len(standing.attempts), standing.hints + 1) * full
        now = standing.share * full
        hints = len(standing.question.variant.hints)
        return (
            f"Hint {standing.hints + 1} of {hints}: with it this attempt can earn at most "
            f"{plain_points(after)} instead of {points_text(now)}. Take it?"
        )


# ----------------------------------------------------------------------------------------------------
# Taking a quiz: ask, hand in, show, try again. Every answer is saved before the next is asked for.


class _TooLateError(Exception):
    """An answer came after the deadline."""


def take_quiz(context: CommandContext, path: Path) -> int:
    """Go on with the quiz in `path` until it is handed in or the person stops.

    Returns
    -------
    int
        0 all right, or handed in where no result is shown; 1 not all right, or stopped; 2 an answer that
        can't be read.
    """
    from engine.commands.quiz.sheet import QuizInProgress
    from engine.quiz import read_filled
    from engine.text.files import read_hand_in

    filled = read_filled(read_hand_in(path), str(path))
    place, quiz = context.of_quiz(filled, path)
    with place.open_store() as store:
        sheet = QuizInProgress(place, store, quiz, path, filled)
        session = _Session(sheet, is_practice=place.course is None)
        try:
            return session.run()
        except (KeyboardInterrupt, click.Abort, EOFError):
            sheet.save()
            say(f"\nstopped; your answers are in {path}\n  next: grade quiz take {path}")
            return 1


class _Session:
    def __init__(self, sheet: QuizInProgress, *, is_practice: bool) -> None:
        self._sheet = sheet
        self._is_practice = is_practice

    def run(self) -> int:
        """Go through the quiz; return the exit code."""
        sheet = self._sheet
        if sheet.is_over:
            return self._closed()
        self._greet()
        asked: Sequence[int] = [number for number, s in sheet.sitting().standings.items() if s.left]
        is_return = True
        try:
            while True:
                self._ask(asked)
                if sheet.waiting() or not sheet.was_handed_in():
                    if not self._confirm():
                        say(f"saved in {sheet.path}\n  next: grade quiz take {sheet.path}")
                        return 1
                    if not self._hand_in():
                        return 2
                elif is_return:
                    self._show_all()
                is_return = False
                asked = self._again()
                if not asked:
                    return self._exit_code()
        except _TooLateError:
            say("\nThe deadline has passed. What you answered before it is handed in.")
            self._hand_in()
            return self._exit_code()

    def _greet(self) -> None:
        from engine.quiz import release as clock
        from engine.quiz.release import rules_text, time_left
        from engine.text.escape import clean_line
        from engine.text.words import points_text

        sheet, sitting = self._sheet, self._sheet.sitting()
        total = len(sheet.quiz.questions)
        say(
            f"{clean_line(sheet.quiz.title)}: {count_noun(total, 'question')}, {points_text(sitting.maximum)}"
        )
        lines = rules_text(sheet.rules)
        if sheet.rules.deadline is not None:
            lines.append(f"Time left: {time_left(sheet.rules.deadline, clock.now())}.")
        if self._is_practice:
            lines.append("This is practice: nothing of it counts.")
        lines.append("Enter leaves a question open, Ctrl-C stops; your answers are kept.")
        done = sum(not sheet.blank(standing) for standing in sitting.standings.values())
        if done:
            lines.append(f"{done} of {count_noun(total, 'question')} {agree(done, 'are')} answered already.")
        say("\n".join(f"  {line}" for line in lines))

    # --- asking and handing in ---

    def _ask(self, numbers: Sequence[int]) -> None:
        sheet = self._sheet
        standings = sheet.sitting().standings
        asking = QuizDialogue(sheet.rules, len(standings), sheet.take_hint, self._answered)
        for number in numbers:
            asking.ask(standings[number], sheet.answers(number))

    def _answered(self) -> None:
        if self._sheet.is_over:
            raise _TooLateError
        self._sheet.save()

    def _confirm(self) -> bool:
        """Ask whether to hand in; answers can be changed until then."""
        sheet = self._sheet
        while True:
            standings = sheet.sitting().standings
            blank = [number for number, s in standings.items() if s.left and sheet.blank(s)]
            if blank:
                listed = ", ".join(map(str, blank))
                text = f"Still open: question {listed}. yes hands in, a number asks it again, Enter stops"
            else:
                text = "All is answered. Enter hands in, a number changes that answer, n stops"
            say()
            said = ask(text).strip().casefold()
            if said in ("y", "yes") or (not said and not blank):
                return True
            if said in ("", "n", "no"):
                return False
            if said.isdecimal() and int(said) in standings and standings[int(said)].left:
                sheet.clear(int(said))
                self._ask([int(said)])
            else:
                say(f"{said!r} is neither yes, no nor a question that can be answered")

    def _hand_in(self) -> bool:
        from engine.commands.quiz.sheet import show_results

        sheet = self._sheet
        with running("marking"):
            waiting = sheet.waiting()
            handed = sheet.hand_in()
        drop_typed()
        say()
        show_results(handed, sheet.sitting(), sheet.shown, waiting if handed.recorded else None)
        if handed.recorded:
            self._tell_total()
        else:
            say("Nothing was recorded: mend what can't be read and hand the file in again.")
        return handed.recorded

    # --- results ---

    def _tell_total(self) -> None:
        from engine.commands.quiz.sheet import show_standing, tell_when
        from engine.model import ResultDisclosure
        from engine.text.words import plain_points, points_text

        sheet, sitting = self._sheet, self._sheet.sitting()
        if not sheet.shown.includes(ResultDisclosure.SCORE):
            say(tell_when(sheet.rules))
            return
        if (sheet.rules.attempts or 1) > 1:
            show_standing(sitting, sheet.shown)
            say()
        say(f"Total: {plain_points(sitting.score)} of {points_text(sitting.maximum)}")

    def _show_all(self) -> None:
        """Show once more what a quiz that is handed in came to."""
        from engine.commands.quiz.sheet import show_results
        from engine.quiz.sitting import best_results

        sitting = self._sheet.sitting()
        say()
        show_results(best_results(sitting), sitting, self._sheet.shown)
        self._tell_total()

    def _closed(self) -> int:
        """Say that the deadline has passed, and show what may be shown now."""
        from engine.quiz.release import deadline_text

        sheet = self._sheet
        assert sheet.rules.deadline is not None
        say(f"This quiz was open until {deadline_text(sheet.rules.deadline)}.")
        waiting = sheet.waiting()
        if waiting:
            listed = ", ".join(map(str, waiting))
            say(f"Not handed in, so not counted: what {sheet.path} says to question {listed}.")
        self._show_all()
        return self._exit_code()

    def _exit_code(self) -> int:
        from engine.model import ResultDisclosure

        if not self._sheet.shown.includes(ResultDisclosure.SCORE):
            return 0  # another code would tell what isn't shown
        return 0 if self._sheet.sitting().is_right else 1

    # --- another attempt ---

    def _again(self) -> list[int]:
        """Offer another attempt where one is possible, and return the questions to ask again."""
        from engine.model import ResultDisclosure
        from engine.text.words import points_text

        while True:
            standings = self._sheet.sitting().standings
            verdicts = self._sheet.shown.includes(ResultDisclosure.VERDICT)
            # while verdicts are hidden, the offer mustn't tell them: it is made for right answers too
            possible = [n for n, s in standings.items() if (s.could_gain if verdicts else s.left > 0)]
            if not possible:
                return []
            listed = ", ".join(
                f"{n} (at most {points_text(standings[n].share * standings[n].question.points)})"
                for n in possible
            )
            say(f"\nAnother attempt is possible: {listed}")
            words = self._words("Numbers with blanks between them, all, or Enter to stop")
            if not words:
                return []
            chosen = possible if words == ["all"] else [int(word) for word in words if word.isdecimal()]
            if not set(chosen) <= set(possible) or (words != ["all"] and len(chosen) < len(words)):
                say(f"please type some of {', '.join(map(str, possible))}")
                continue
            with running("drawing"):
                found = {number: self._sheet.reopen(standings[number]) for number in dict.fromkeys(chosen)}
            drop_typed()
            reopened = [number for number, is_open in found.items() if is_open]
            for number in found.keys() - set(reopened):
                self._tell_closed(number)
            if reopened:
                return reopened

    @staticmethod
    def _words(text: str) -> list[str]:
        """Ask; the end of the input means the same as Enter, because everything is handed in."""
        try:
            said = ask(text)
        except (click.Abort, EOFError):
            say()
            return []
        return said.casefold().replace(",", " ").split()

    @staticmethod
    def _tell_closed(number: int) -> None:
        say(
            f"Question {number} has no other variant, and the same options again would be elimination: "
            "there is no further attempt."
        )
