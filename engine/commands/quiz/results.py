"""What a student sees after handing in a quiz: as much as its rules show now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from engine.commands.terminal import number, say, show_table
from engine.text.words import join_words, plain_points

if TYPE_CHECKING:
    from engine.model import Part, QuizRules, Variant
    from engine.quiz.hand_in import HandInResult
    from engine.quiz.quiz_progress import QuizSitting
    from engine.quiz.rules import QuestionRelease


def _releases(results: HandInResult, sitting: QuizSitting) -> list[QuestionRelease]:
    from engine.quiz import rules as quiz_rules

    now = quiz_rules.now()
    is_over = results.quiz.rules.is_over(now)
    releases = []
    for question, report in zip(results.quiz.questions, results.reports, strict=True):
        progress = sitting.progress[question.number]
        # While an attempt is left and needed, the key stays hidden.
        is_final = is_over or progress.left == 0 or progress.is_right
        level = question.disclosure(results.quiz.rules, now)
        releases.append(quiz_rules.shown_report(report, question.variant, level, is_final=is_final))
    return releases


def show_results(results: HandInResult, sitting: QuizSitting, numbers: Iterable[int] | None = None) -> None:
    """Print the questions in `numbers` (all by default) of a hand-in, one by one."""
    from engine.commands.report_text import show_report

    chosen = None if numbers is None else set(numbers)
    releases = _releases(results, sitting)
    for question, release in zip(results.quiz.questions, releases, strict=True):
        if release.report is None or (chosen is not None and question.number not in chosen):
            continue
        click.echo(f"Question {question.number}")
        show_report(release.report)
        for line in _solution_lines(question.variant) if release.with_solution else ():
            say(line)
        click.echo()


def _solution_lines(variant: Variant) -> list[str]:
    lines = [line for part in variant.parts for line in _key_lines(part, alone=len(variant.parts) == 1)]
    if variant.solution is not None:
        lines.append(f"Solution: {variant.solution.plain}")
    return lines


def _key_lines(part: Part, *, alone: bool) -> list[str]:
    """Return the key of a part, with the texts of the options that it names."""
    from engine.answers import kind_of, right_response

    name = "Key" if alone else f"Key of {part.id}"
    if kind_of(part.type).needs_person:
        from engine.answers.free_text import rubric_lines

        head = (
            "An answer that earns full marks" if alone else f"An answer that earns full marks for {part.id}"
        )
        return [f"{head}: {right_response(part)}", *(f"  {line}" for line in rubric_lines(part))]
    lines = [f"{name}: {right_response(part)}"]
    if kind_of(part.type).picks_options:
        lines += [f"  ({option.id}) {option.text.plain}" for option in part.options if option.correct]
    return lines


def show_progress(sitting: QuizSitting) -> None:
    """Print a table of attempts, hints and best scores; columns that say nothing are left out."""
    from engine.model import ResultDisclosure
    from engine.quiz.rules import now

    rules, moment = sitting.quiz.rules, now()
    limit = rules.attempts or 1
    with_verdict = {
        number: progress.question.disclosure(rules, moment).includes(ResultDisclosure.VERDICT)
        for number, progress in sitting.progress.items()
    }
    with_hints, with_verdicts = rules.hint_cost is not None, any(with_verdict.values())
    # Columns that the rules make meaningless would only raise questions.
    columns = ["question", "attempts", *(["hints"] if with_hints else [])]
    columns += [*(["best"] if with_verdicts else []), *(["next at most"] if limit > 1 else [])]
    rows = []
    for question, progress in sitting.progress.items():
        row = [str(question), f"{len(progress.attempts)} of {limit}"]
        row += [str(progress.hints)] if with_hints else []
        points = progress.question.points
        if with_verdicts:
            best = f"{number(progress.best)} of {number(points)}" if with_verdict[question] else "handed in"
            row.append(("to be marked" if progress.is_waiting else best) if progress.attempts else "open")
        if limit > 1:
            # While verdicts are hidden, the attempts left mustn't give them away.
            is_open = progress.could_gain if with_verdict[question] else progress.left > 0
            row.append(number(progress.share * points) if is_open else "-")
        rows.append(row)
    show_table(columns, rows)


def waiting_text(sitting: QuizSitting) -> str:
    """Return which questions a person marks, in a sentence; empty where there are none."""
    numbers = [str(number) for number, progress in sitting.progress.items() if progress.is_waiting]
    if not numbers:
        return ""
    questions = "question" if len(numbers) == 1 else "questions"
    return f"A person marks {questions} {join_words(numbers)}; the total is final after that."


def release_text(rules: QuizRules) -> str:
    """Return when results are shown that aren't shown now."""
    from engine.quiz.rules import deadline_text

    if rules.deadline is None:
        return "Handed in. This quiz shows no results."
    return f"Handed in. Results are shown after {deadline_text(rules.deadline)}."


def results_json(results: HandInResult, sitting: QuizSitting) -> dict[str, Any]:
    """Return a hand-in as ``--json`` shows it: nothing that the quiz's rules hide."""
    from engine.model import ResultDisclosure
    from engine.quiz import total
    from engine.quiz.rules import least_disclosure, now

    level = least_disclosure(sitting.quiz, now())
    document: dict[str, Any] = {"quiz": results.quiz.id, "recorded": results.recorded, "shown": str(level)}
    releases = _releases(results, sitting)
    if level.includes(ResultDisclosure.SCORE) or not results.recorded:
        score, maximum = total(results.reports)
        document |= {
            "score": None if score is None else plain_points(score),
            "max_score": plain_points(maximum),
            "best": plain_points(sitting.score),
        }
    document["reports"] = [release.report.as_json() for release in releases if release.report is not None]
    solutions = {
        str(question.number): _solution_lines(question.variant)
        for question, release in zip(results.quiz.questions, releases, strict=True)
        if release.with_solution
    }
    return document | ({"solutions": solutions} if solutions else {})
