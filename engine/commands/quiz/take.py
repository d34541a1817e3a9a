"""``grade quiz take``: a quiz in the terminal.

It asks, hands in, shows results and offers another try. Every answer is saved before the next is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import log
from engine.commands.options import course_option, store_option
from engine.commands.quiz.new import blueprint_path, make_quizzes
from engine.commands.quiz.results import release_text, show_progress, show_results, waiting_text
from engine.commands.terminal import ask, confirm, console, discard_typed_ahead, number, running, say
from engine.errors import ResponseFormatError
from engine.text.files import write_errors
from engine.text.words import agree, clean_line, count_noun, points_text

if TYPE_CHECKING:
    from engine.model import Part, Quiz
    from engine.quiz.answer_sheet import FileSheet
    from engine.quiz.in_progress import QuizInProgress
    from engine.quiz.quiz_progress import QuestionProgress


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
    A quiz from a blueprint is practice, even in a course: it doesn't count.

    Exit code 0: all right, or handed in where no result is shown; 1: not all right, or stopped.

    \b
    Examples:
      grade quiz take quiz.yaml
      grade quiz take l16
    """
    from engine.quiz.quiz_file import is_quiz_file

    context = find_context(course_path)
    if quiz_file.endswith((".yaml", ".yml")) and is_quiz_file(Path(quiz_file)):
        return _take_quiz(context, Path(quiz_file))
    path = blueprint_path(context, quiz_file)
    practice = context.practice
    quizzes = make_quizzes(practice, path, ["me"], path.stem, attempt)
    discard_typed_ahead()
    return _take_quiz(practice, _write_practice_quiz(quizzes[0]))


def _write_practice_quiz(quiz: Quiz) -> Path:
    # A file that is there holds answers from an earlier evening: one goes on with it.
    from engine.pages.quiz import file_stem
    from engine.quiz import fill_in_text

    path = Path(f"{file_stem(quiz)}.yaml")
    step = "go to a folder that you may write to, and take it there"
    with write_errors("the quiz can't be written here", path, next_step=step):
        if not path.exists():
            path.write_text(fill_in_text(quiz), encoding="utf-8")
    return path


def _take_quiz(context: CommandContext, path: Path) -> int:
    """Go on with the quiz in `path` until it is handed in or the person stops; return the exit code."""
    from engine.quiz.answer_sheet import FileSheet
    from engine.quiz.in_progress import QuizInProgress

    filled, home, stored = context.stored_quiz(path)
    with home.open_store() as store:
        sheet = FileSheet(store, stored, path, filled)
        quiz = QuizInProgress(store, stored, sheet, bank=home.bank, mode=home.mode, secret=home.secret)

        def note_hand_in() -> None:
            log(home, store, "quiz.handed_in", stored.name, student=stored.student)

        try:
            return _Session(quiz, note_hand_in, is_practice=home.course is None).run()
        # click turns Ctrl-C and the end of the input at a prompt into Abort.
        except (KeyboardInterrupt, click.Abort, EOFError):
            sheet.save()
            say(f"\nstopped; your answers are in {path}\n  next: grade quiz take {path}")
            return 1


def _further_lines() -> Iterator[str]:
    """Yield the lines of a long answer after its first one, up to an empty line."""
    while line := click.prompt("", default="", show_default=False, prompt_suffix="  "):
        yield line


class _TooLateError(Exception):
    """An answer came after the deadline."""


class _Session:
    """One person at the terminal with one quiz, from the greeting to the last result."""

    def __init__(
        self, quiz: QuizInProgress[FileSheet], note_hand_in: Callable[[], None], *, is_practice: bool
    ) -> None:
        self._quiz = quiz
        self._note_hand_in = note_hand_in
        self._is_practice = is_practice

    def run(self) -> int:
        """Go through the quiz; return the exit code."""
        quiz = self._quiz
        if quiz.is_over:
            return self._show_closed()
        self._greet()
        if not self._begin():
            return 1
        numbers: Sequence[int] = [n for n, progress in quiz.sitting().progress.items() if progress.left]
        is_return = True
        try:
            while True:
                self._ask(numbers)
                if quiz.not_handed_in() or not quiz.was_handed_in():
                    if not self._confirm():
                        say(f"saved in {quiz.sheet.path}\n  next: grade quiz take {quiz.sheet.path}")
                        return 1
                    if not self._hand_in():
                        return 2
                elif is_return:  # nothing new: the person wants to see the results again
                    self._show_best()
                is_return = False
                numbers = self._choose_again()
                if not numbers:
                    return self._exit_code()
        except _TooLateError:
            end = "deadline has passed" if self._quiz.rules.time_limit is None else "time is over"
            say(f"\nThe {end}. What you answered before it is handed in.")
            self._hand_in()
            self._quiz.note_end()
            return self._exit_code()

    def _greet(self) -> None:
        from engine.quiz.rules import now, rules_text, time_left

        quiz, sitting = self._quiz, self._quiz.sitting()
        total = count_noun(len(quiz.quiz.questions), "question")
        say(f"{clean_line(quiz.quiz.title)}: {total}, {points_text(sitting.maximum)}")
        lines = rules_text(quiz.rules)
        if quiz.ends is not None:
            lines.append(f"Time left: {time_left(quiz.ends, now())}.")
        if self._is_practice:
            lines.append("This is practice: it doesn't count.")
        lines.append("Enter leaves a question open, Ctrl-C stops; your answers are kept.")
        answered = sum(not quiz.is_blank(progress) for progress in sitting.progress.values())
        if answered:
            lines.append(f"{answered} of {total} {agree(answered, 'are')} answered already.")
        say("\n".join(f"  {line}" for line in lines))

    def _begin(self) -> bool:
        """Let the time of a quiz with a time limit run; False if the person doesn't want it to yet."""
        from engine.quiz.rules import deadline_text
        from engine.quiz.timing import SittingState

        quiz = self._quiz
        if quiz.rules.time_limit is None:
            return True
        if quiz.state is SittingState.READY:
            if not confirm("Begin now? The time runs from here on."):
                return False
            quiz.begin()
        if quiz.ends is not None:
            say(f"  The time is over {deadline_text(quiz.ends)}.")
        return True

    def _ask(self, numbers: Sequence[int]) -> None:
        from engine.commands.report_text import show_part

        by_number = self._quiz.sitting().progress
        for question in numbers:
            progress, answers = by_number[question], self._quiz.sheet.answers(question)
            parts = progress.question.variant.parts
            blank = [part for part in parts if not answers.get(part.id, "").strip()]
            if blank:
                self._show_question(progress, len(by_number))
            alone = len(parts) == 1
            for part in blank:
                show_part(console(), part, alone=alone)
                text, progress = self._answer(part, progress, "answer" if alone else part.id)
                self._save_answer(answers, part.id, text)

    def _show_question(self, progress: QuestionProgress, total: int) -> None:
        from rich.text import Text as RichText

        question, variant = progress.question, progress.question.variant
        words = [f"Question {question.number} of {total}", points_text(question.points)]
        if progress.attempts:
            words.append(f"attempt {len(progress.attempts) + 1} of {self._quiz.rules.attempts or 1}")
        if progress.share < 1:
            words.append(f"now at most {points_text(progress.share * question.points)}")
        out, head = console(), " · ".join(words)
        say()
        # A rule as wide as a pipe's console would be a line of a thousand signs.
        if sys.stdout.isatty():
            out.rule(head, align="left")
        else:
            say(head)
        out.print(RichText(variant.stem.plain))
        for note in variant.notes:
            out.print(RichText("Note: " + note.plain, style="yellow"))
        for index, hint in enumerate(progress.hints_seen, start=1):
            out.print(RichText(f"Hint {index}: {hint.plain}"))

    def _answer(self, part: Part, progress: QuestionProgress, name: str) -> tuple[str, QuestionProgress]:
        """Ask until an answer can be read, or Enter leaves it open; give hints meanwhile."""
        from engine.answers import answer_type, blank_hint, kind_of
        from engine.answers.free_text import length_text

        say(f"  {blank_hint(part)}{self._hint_offer(progress)}")
        last = progress.last_answers.get(part.id, "").strip()
        if last:
            say(f"  last time: {clean_line(last)} (= repeats it)")
        is_long = kind_of(part.type).needs_person
        if is_long:
            say("  As many lines as you like; an empty line ends the answer.")
        while True:
            text: str = click.prompt(name, default="", show_default=False)
            if text.strip() == "?":
                progress = self._hint(progress)
                continue
            if not text.strip():
                return "", progress
            # Another attempt at a matrix needn't be typed again for one wrong entry.
            is_same = text.strip() == "=" and bool(last)
            text = last if is_same else text
            if is_long and not is_same:
                text = "\n".join([text, *_further_lines()])
            try:
                answer_type(part.type).read(text, part)
            except ResponseFormatError as error:
                say("\n".join(error.lines()))
                continue
            if part.type == "free_text":
                say(f"  {length_text(part, text)}")
            return text, progress

    def _save_answer(self, answers: MutableMapping[str, str], part: str, text: str) -> None:
        # An answer after the deadline is in no file: what is handed in then is what was there in time.
        before = answers.get(part, "")
        answers[part] = text
        try:
            if self._quiz.is_over:
                raise _TooLateError
            self._quiz.sheet.save()
        except BaseException:
            answers[part] = before
            raise

    def _hint_offer(self, progress: QuestionProgress) -> str:
        remaining = len(progress.question.variant.hints) - progress.hints
        if self._quiz.rules.hint_cost is None or remaining <= 0:
            return ""
        return f" (? for a hint: {remaining} left)"

    def _hint(self, progress: QuestionProgress) -> QuestionProgress:
        """Offer the next hint with what it costs; give it if that is accepted."""
        hints, cost = progress.question.variant.hints, self._quiz.rules.hint_cost
        if cost is None or not hints:
            say(f"This {'quiz gives' if cost is None else 'question has'} no hints.")
            return progress
        # Hints that were paid for can be read again.
        if progress.hints >= len(hints):
            for index, hint in enumerate(progress.hints_seen, start=1):
                say(f"Hint {index}: {hint.plain}")
            say("That was the last hint.")
            return progress
        if cost and not confirm(self._cost_question(progress)):
            return progress
        progress = self._quiz.take_hint(progress)
        say(f"Hint {progress.hints} of {len(hints)}: {hints[progress.hints - 1].plain}")
        return progress

    def _cost_question(self, progress: QuestionProgress) -> str:
        points = progress.question.points
        after = self._quiz.rules.share(len(progress.attempts), progress.hints + 1) * points
        hints = len(progress.question.variant.hints)
        return (
            f"Hint {progress.hints + 1} of {hints}: with it this attempt can earn at most {number(after)} "
            f"instead of {points_text(progress.share * points)}. Take it?"
        )

    def _confirm(self) -> bool:
        """Ask whether to hand in; answers can be changed until then."""
        quiz = self._quiz
        while True:
            by_number = quiz.sitting().progress
            blank = [number for number, s in by_number.items() if s.left and quiz.is_blank(s)]
            if blank:
                numbers = ", ".join(map(str, blank))
                text = f"Still open: question {numbers}. yes hands in, a number asks it again, Enter stops"
            else:
                text = "Everything is answered. Enter hands in, a number changes that answer, n stops"
            say()
            reply = ask(text).strip().casefold()
            if reply in ("y", "yes") or (not reply and not blank):
                return True
            if reply in ("", "n", "no"):
                return False
            if reply.isdecimal() and int(reply) in by_number and by_number[int(reply)].left:
                quiz.sheet.clear(int(reply))
                self._ask([int(reply)])
            else:
                say(f"{reply!r} is neither yes, no nor a question that can be answered")

    def _hand_in(self) -> bool:
        quiz = self._quiz
        # Only what is new is shown: results of earlier attempts were seen.
        with running("marking"):
            numbers = quiz.not_handed_in()
            results = quiz.hand_in()
        discard_typed_ahead()
        say()
        show_results(results, quiz.sitting(), numbers if results.recorded else None)
        if results.recorded:
            self._note_hand_in()
            self._show_total()
        else:
            say("Nothing was recorded: correct what can't be read and hand the file in again.")
        return results.recorded

    def _show_total(self) -> None:
        from engine.model import ResultDisclosure

        quiz, sitting = self._quiz, self._quiz.sitting()
        if not quiz.disclosure.includes(ResultDisclosure.SCORE):
            say(release_text(quiz.rules))
            return
        if (quiz.rules.attempts or 1) > 1:
            show_progress(sitting)
            say()
        so_far = " so far" if sitting.is_waiting else ""
        say(f"Total{so_far}: {number(sitting.score)} of {points_text(sitting.maximum)}")
        if sitting.is_waiting:
            say(waiting_text(sitting))

    def _show_best(self) -> None:
        from engine.quiz.quiz_progress import best_results

        sitting = self._quiz.sitting()
        say()
        show_results(best_results(sitting), sitting)
        self._show_total()

    def _show_closed(self) -> int:
        """Say that the quiz is over, and show what may be shown now."""
        from engine.quiz.rules import deadline_text

        quiz = self._quiz
        assert quiz.ends is not None  # only what has an end is over
        say(f"This quiz was open until {deadline_text(quiz.ends)}.")
        late = quiz.not_handed_in()
        if late:
            numbers = ", ".join(map(str, late))
            say(f"Not handed in, so not counted: what {quiz.sheet.path} says to question {numbers}.")
        quiz.note_end()
        self._show_best()
        return self._exit_code()

    def _exit_code(self) -> int:
        from engine.model import ResultDisclosure

        if not self._quiz.disclosure.includes(ResultDisclosure.SCORE):
            return 0  # another code would give away what isn't shown
        by_number = self._quiz.sitting().progress
        # What a person marks is handed in: nothing is wrong with it yet.
        return 0 if all(p.is_right or p.is_waiting for p in by_number.values()) else 1

    def _choose_again(self) -> list[int]:
        """Offer another attempt where one is possible, and return the questions to ask again."""
        from engine.model import ResultDisclosure

        while True:
            by_number = self._quiz.sitting().progress
            # While a verdict is hidden, the offer mustn't give it away: right answers get it too.
            possible = [
                n
                for n, s in by_number.items()
                if (
                    s.could_gain
                    if self._quiz.disclosure_of(s.question).includes(ResultDisclosure.VERDICT)
                    else s.left > 0
                )
            ]
            if not possible:
                return []
            offers = ", ".join(
                f"{n} (at most {points_text(by_number[n].share * by_number[n].question.points)})"
                for n in possible
            )
            say(f"\nAnother attempt is possible: {offers}")
            words = self._words("Numbers separated by spaces, all, or Enter to stop")
            if not words:
                return []
            chosen = possible if words == ["all"] else [int(word) for word in words if word.isdecimal()]
            if not set(chosen) <= set(possible) or (words != ["all"] and len(chosen) < len(words)):
                say(f"please type some of {', '.join(map(str, possible))}")
                continue
            with running("drawing"):
                is_open = {n: self._quiz.reopen(by_number[n]) for n in dict.fromkeys(chosen)}
            discard_typed_ahead()
            for n in (n for n in is_open if not is_open[n]):
                say(
                    f"Question {n} has no other variant, and the same options again would be elimination: "
                    "there is no further attempt."
                )
            if any(is_open.values()):
                return [n for n in is_open if is_open[n]]

    @staticmethod
    def _words(text: str) -> list[str]:
        # The end of the input means the same as Enter: everything is handed in already.
        try:
            reply = ask(text)
        except (click.Abort, EOFError):
            say()
            return []
        return reply.casefold().replace(",", " ").split()
