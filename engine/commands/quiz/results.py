"""What a student sees after handing in: as much as the quiz's rules show now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from engine.commands.terminal import say

if TYPE_CHECKING:
    from engine.model import Part, Variant
    from engine.quiz.hand_in import HandedIn
    from engine.quiz.showing import Showing
    from engine.quiz.sitting import Sitting
    from engine.rules import QuizRules, Shown

__all__ = ["key_lines", "results_json", "show_results", "show_standing", "solution_lines", "tell_when"]


def showings(handed: HandedIn, sitting: Sitting, level: Shown) -> list[Showing]:
    """Return what is shown of each question of a hand-in."""
    from engine.quiz import clock
    from engine.quiz.showing import shown_report

    over = handed.quiz.rules.is_over(clock.now())
    found = []
    for question, report in zip(handed.quiz.questions, handed.reports, strict=True):
        standing = sitting.standings[question.number]
        final = over or standing.left == 0 or standing.is_right
        found.append(shown_report(report, question.variant, level, is_final=final))
    return found


def show_results(
    handed: HandedIn, sitting: Sitting, level: Shown, numbers: Iterable[int] | None = None
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


def show_standing(sitting: Sitting, level: Shown) -> None:
    """Print a table of attempts, hints and best scores; columns that say nothing are left out."""
    from engine.commands.render import number, show_table
    from engine.rules import Shown

    rules = sitting.quiz.rules
    limit = rules.attempts or 1
    columns = ["question", "attempts", *(["hints"] if rules.hint_cost is not None else [])]
    verdicts = level.includes(Shown.VERDICT)
    columns += [*(["best"] if verdicts else []), *(["next at most"] if limit > 1 else [])]
    rows = []
    for place, standing in sitting.standings.items():
        row = [str(place), f"{len(standing.attempts)} of {limit}"]
        if rules.hint_cost is not None:
            row.append(str(standing.hints))
        points = standing.question.points
        if verdicts:
            row.append(f"{number(standing.best)} of {number(points)}" if standing.attempts else "open")
        if limit > 1:
            # while verdicts are hidden, what is left mustn't tell them
            worth = standing.could_gain if verdicts else standing.left > 0
            row.append(number(standing.share * points) if worth else "-")
        rows.append(row)
    show_table(columns, rows)


def tell_when(rules: QuizRules) -> str:
    """Return when results are shown that aren't shown now."""
    from engine.quiz.rules_text import deadline_text

    if rules.deadline is None:
        return "Handed in. This quiz shows no results."
    return f"Handed in. Results are shown after {deadline_text(rules.deadline)}."


def results_json(handed: HandedIn, sitting: Sitting, level: Shown) -> dict[str, Any]:
    """Return a hand-in as ``--json`` shows it: nothing that the level hides."""
    from engine.model import plain_points
    from engine.quiz import total
    from engine.rules import Shown

    document: dict[str, Any] = {"quiz": handed.quiz.id, "recorded": handed.recorded, "shown": str(level)}
    shown = showings(handed, sitting, level)
    if level.includes(Shown.SCORE) or not handed.recorded:
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
