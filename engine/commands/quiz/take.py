"""Taking a quiz: ask, hand in, show, try again. Every answer is saved before the next is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.quiz.asking import Asking
from engine.commands.quiz.results import show_results, show_standing, tell_when
from engine.commands.quiz.sheet import Sheet
from engine.commands.terminal import ask, drop_typed, running, say
from engine.plurals import agree, counted
from engine.rules import Shown

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace

__all__ = ["take_quiz"]


class _TooLateError(Exception):
    """An answer came after the deadline."""


def take_quiz(workplace: Workplace, path: Path) -> int:
    """Go on with the quiz in `path` until it is handed in or the person stops.

    Returns
    -------
    int
        0 all right, or handed in where no result is shown; 1 not all right, or stopped; 2 an answer that
        can't be read.
    """
    from engine.intake import read_text_file
    from engine.quiz import read_filled

    filled = read_filled(read_text_file(path), str(path))
    place, quiz = workplace.of_quiz(filled, path)
    with place.open_store() as store:
        sheet = Sheet(place, store, quiz, path, filled)
        session = _Session(sheet, is_practice=place.course is None)
        try:
            return session.run()
        except (KeyboardInterrupt, click.Abort, EOFError):
            sheet.save()
            say(f"\nstopped; your answers are in {path}\n  next: grade quiz take {path}")
            return 1


class _Session:
    def __init__(self, sheet: Sheet, *, is_practice: bool) -> None:
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
        from engine.commands.render import points
        from engine.foreign import clean_line
        from engine.quiz import clock
        from engine.quiz.rules_text import rules_text, time_left

        sheet, sitting = self._sheet, self._sheet.sitting()
        total = len(sheet.quiz.questions)
        say(f"{clean_line(sheet.quiz.title)}: {counted(total, 'question')}, {points(sitting.maximum)}")
        lines = rules_text(sheet.rules)
        if sheet.rules.deadline is not None:
            lines.append(f"Time left: {time_left(sheet.rules.deadline, clock.now())}.")
        if self._is_practice:
            lines.append("This is practice: nothing of it counts.")
        lines.append("Enter leaves a question open, Ctrl-C stops; your answers are kept.")
        done = sum(not sheet.blank(standing) for standing in sitting.standings.values())
        if done:
            lines.append(f"{done} of {counted(total, 'question')} {agree(done, 'are')} answered already.")
        say("\n".join(f"  {line}" for line in lines))

    # --- asking and handing in ---

    def _ask(self, numbers: Sequence[int]) -> None:
        sheet = self._sheet
        standings = sheet.sitting().standings
        asking = Asking(sheet.rules, len(standings), sheet.take_hint, self._answered)
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
        from engine.commands.render import number, points

        sheet, sitting = self._sheet, self._sheet.sitting()
        if not sheet.shown.includes(Shown.SCORE):
            say(tell_when(sheet.rules))
            return
        if (sheet.rules.attempts or 1) > 1:
            show_standing(sitting, sheet.shown)
            say()
        say(f"Total: {number(sitting.score)} of {points(sitting.maximum)}")

    def _show_all(self) -> None:
        """Show once more what a quiz that is handed in came to."""
        from engine.quiz.sitting import best_results

        sitting = self._sheet.sitting()
        say()
        show_results(best_results(sitting), sitting, self._sheet.shown)
        self._tell_total()

    def _closed(self) -> int:
        """Say that the deadline has passed, and show what may be shown now."""
        from engine.quiz.rules_text import deadline_text

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
        if not self._sheet.shown.includes(Shown.SCORE):
            return 0  # another code would tell what isn't shown
        return 0 if self._sheet.sitting().is_right else 1

    # --- another attempt ---

    def _again(self) -> list[int]:
        """Offer another attempt where one is possible, and return the questions to ask again."""
        from engine.commands.render import points

        while True:
            standings = self._sheet.sitting().standings
            verdicts = self._sheet.shown.includes(Shown.VERDICT)
            # while verdicts are hidden, the offer mustn't tell them: it is made for right answers too
            possible = [n for n, s in standings.items() if (s.could_gain if verdicts else s.left > 0)]
            if not possible:
                return []
            listed = ", ".join(
                f"{n} (at most {points(standings[n].share * standings[n].question.points)})" for n in possible
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
