"""``grade mark answers`` and its neighbours: answers in words that a person marks by a rubric."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import CommandContext, find_context
from engine.commands.journal import LogLine, log, log_lines
from engine.commands.options import by_option, course_option, json_option, store_option
from engine.commands.terminal import number, print_json, say, show_table
from engine.errors import CourseError, UsageError
from engine.text.files import keep_work, replace_text, write_errors
from engine.text.words import clean, clean_line, count_noun, did_you_mean

if TYPE_CHECKING:
    from engine.marks.rubric_marking import AnswerToMark, MarkedField, RubricMarking
    from engine.store import Store

_blind_option = click.option("--blind", is_flag=True, help="Show pseudonyms in the place of students' ids.")


@contextmanager
def _open_marking(context: CommandContext) -> Iterator[tuple[RubricMarking, Store]]:
    from engine.marks.rubric_marking import RubricMarking

    context.require_course()
    with context.open_store() as store:
        yield RubricMarking(store, context.mode, context.secret()), store


def _field_of(marking: RubricMarking, name: str) -> MarkedField:
    field = marking.field(name)
    if field is None:
        names = [progress.field.id for progress in marking.fields()]
        expected = ", ".join(names) or "there is none yet: grade batch and the site store what is handed in"
        what = f"no answer to {clean_line(name, 80)!r} is marked by people{did_you_mean(name, names)}"
        raise UsageError(what, expected=expected)
    return field


def _answer_of(marking: RubricMarking, answer_id: str) -> AnswerToMark:
    answer = marking.answer(answer_id)
    if answer is None:
        step = "grade mark answers QUESTION lists the answers with their ids"
        raise UsageError(f"there is no answer {clean_line(answer_id, 40)!r}", next_step=step)
    return answer


@click.command("answers")
@click.argument("question", required=False)
@click.option("--all", "everything", is_flag=True, help="Also those that are marked.")
@_blind_option
@json_option
@course_option
@store_option
def list_answers(
    question: str | None, everything: bool, blind: bool, as_json: bool, course_path: Path | None
) -> None:
    """List what a person must mark: the questions, or the answers to one QUESTION such as week-1/why-scale.

    \b
    Examples:
      grade mark answers
      grade mark answers week-1/why-scaled-scores --blind
    """
    from engine.marks.marking_table import total_text

    with _open_marking(find_context(course_path)) as (marking, _):
        if question is None:
            _list_fields(marking, everything, as_json)
            return
        answers = marking.answers(_field_of(marking, question), waiting_only=not everything)
    if as_json:
        print_json([_answer_json(answer, blind) for answer in answers])
    elif answers:
        rows = [
            [
                answer.id,
                answer.pseudonym if blind else clean_line(answer.student),
                total_text(answer),
                "" if answer.words is None else str(answer.words),
                clean_line(answer.text, 60),
            ]
            for answer in answers
        ]
        show_table(["id", "student", "points", "words", "answer"], rows)
        click.echo(f"  next: grade mark answer {answers[0].id}")
    else:
        click.echo("every answer is marked; --all lists them")


def _list_fields(marking: RubricMarking, everything: bool, as_json: bool) -> None:
    fields = [progress for progress in marking.fields() if progress.waiting or everything or as_json]
    if as_json:
        print_json(
            [
                {"question": p.field.id, "title": p.title, "waiting": p.waiting, "marked": p.marked}
                for p in fields
            ]
        )
    elif fields:
        rows = [[p.field.id, clean_line(p.title), str(p.waiting), str(p.marked)] for p in fields]
        show_table(["question", "title", "waiting", "marked"], rows)
        click.echo(f"  next: grade mark answers {fields[0].field.id}")
    else:
        click.echo("no answer waits for a person")


@click.command("answer")
@click.argument("answer_id", metavar="ID")
@click.option(
    "--points", multiple=True, metavar="CRITERION=POINTS", help="Points for a criterion; one for each."
)
@click.option("--full", is_flag=True, help="All points for every criterion that --points doesn't name.")
@click.option(
    "--remark", "remarks", multiple=True, metavar="CRITERION=TEXT", help="A remark on a criterion, repeated."
)
@click.option("--comment", default="", help="A remark on the whole answer, for the student.")
@click.option("--alike", is_flag=True, help="Also mark the answers that say the same in the same words.")
@click.option("--withdraw", is_flag=True, help="Withdraw the marks: the answer waits again.")
@click.option("--save", is_flag=True, help="Save --comment, to be offered again for this item's answers.")
@_blind_option
@json_option
@by_option
@course_option
@store_option
def mark_answer(
    answer_id: str,
    points: tuple[str, ...],
    full: bool,
    remarks: tuple[str, ...],
    comment: str,
    alike: bool,
    withdraw: bool,
    save: bool,
    blind: bool,
    as_json: bool,
    by: str,
    course_path: Path | None,
) -> None:
    """Show the answer with this ID and its rubric, or give it points.

    Points are in the units of the rubric; what they count in a quiz follows from the question's points.

    \b
    Examples:
      grade mark answer 3f9a0c41d2be
      grade mark answer 3f9a0c41d2be --points spread=1 --points softmax=1 --remark softmax="which gradients?"
      grade mark answer 3f9a0c41d2be --full --alike
    """
    if withdraw and (points or full or remarks or comment or alike):
        raise UsageError("--withdraw goes by itself", expected="--withdraw, or points")
    if (remarks or comment or alike) and not (points or full):
        raise UsageError(
            "a remark comes with points", expected="--points for every criterion, or --full with it"
        )
    if save and not comment.strip():
        raise UsageError("--save needs the words to save", expected="--comment TEXT --save")
    context = find_context(course_path)
    with _open_marking(context) as (marking, store):
        answer, now = _answer_of(marking, answer_id), datetime.now(UTC)
        others = marking.alike(answer)
        untouched: list[AnswerToMark] = []
        if withdraw:
            with store.one_transaction():
                untouched = marking.withdraw([answer], by=by, at=now)
                lines = [LogLine("rubric.withdraw", answer.field.id, answer.student)] if not untouched else []
                log_lines(context, store, lines, by=by)
        elif points or full:
            chosen = {c.id: c.points for c in answer.rubric} if full else {}
            chosen |= {name: _number(name, text) for name, text in _pairs(points, "--points").items()}
            marked = [answer, *(others if alike else [])]
            with store.one_transaction():
                untouched = marking.give(
                    marked,
                    chosen,
                    by=by,
                    at=now,
                    comments=_pairs(remarks, "--remark"),
                    comment=comment,
                )
                points_given = sum(chosen.values())
                lines = [_log_line(each, points_given) for each in marked if each not in untouched]
                if save:
                    store.saved_comments.add(comment, item=answer.field.item, by=by, at=now)
                    lines.append(LogLine("sentence.add", answer.field.item))
                log_lines(context, store, lines, by=by)
        saved = [comment.text for comment in store.saved_comments.of(answer.field.item)]
        answer = _answer_of(marking, answer_id)
        following = marking.next_waiting(answer.field, answer.id)
    if as_json:
        print_json(_answer_json(answer, blind))
    elif withdraw or points or full:
        _show_result(answer, others if alike else [], following, blind)
    else:
        _show_answer(answer, others, saved, blind, find_context(course_path))
    if untouched:
        raise CourseError(
            f"{count_noun(len(untouched), 'answer')} changed meanwhile, and nothing was stored there",
            next_step="look at it again: grade mark answer ID",
        )


def _log_line(answer: AnswerToMark, points: float) -> LogLine:
    return LogLine("rubric.mark", answer.field.id, answer.student, {"points": points})


def _pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"{option} names a criterion", expected=f"{option} CRITERION=…", got=repr(text))
        if name.strip() in pairs:
            raise UsageError(f"criterion {name.strip()!r} is named twice", expected=f"{option} once for each")
        pairs[name.strip()] = value.strip()
    return pairs


def _number(criterion: str, text: str) -> float:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise UsageError(
            "these aren't points",
            where=f"criterion {criterion}",
            expected="a number such as 1.5",
            got=repr(text),
        )
    return value


def _who(answer: AnswerToMark, blind: bool) -> str:
    return answer.pseudonym if blind else clean_line(answer.student)


def _show_answer(
    answer: AnswerToMark,
    others: Sequence[AnswerToMark],
    saved: Sequence[str],
    blind: bool,
    context: CommandContext,
) -> None:
    from engine.marks.marking_table import total_text

    say(f"{answer.field.id} · {_who(answer, blind)} · {answer.length} · {total_text(answer)}")
    say()
    say(answer.variant.stem.plain)
    if answer.part.prompt is not None:
        say(answer.part.prompt.plain)
    say("\nAnswer:")
    say("\n".join(f"    {line}" for line in clean(answer.text, 20_000).splitlines()))
    if answer.sample is not None:
        say("\nSample:")
        say("\n".join(f"    {line}" for line in answer.sample.plain.splitlines()))
    say("\nRubric:")
    for criterion in answer.rubric:
        marks = answer.marks
        points = None if marks is None else marks.points.get(criterion.id)
        stands = "" if points is None else f"  {number(points)} given"
        say(f"  {criterion.id} ({criterion.offer}): {criterion.text.plain}{stands}")
        for level in criterion.levels:
            say(f"    {number(level.points)}: {level.text.plain}")
        if marks is not None and criterion.id in marks.comments:
            say(f"    remark: {clean_line(marks.comments[criterion.id], 500)}")
    if answer.marks is not None:
        when = context.local_text(answer.marks.at, with_zone=True)
        say(f"\nMarked by {clean_line(answer.marks.by)}, {when}")
        if answer.marks.comment:
            say(f"  {clean_line(answer.marks.comment, 500)}")
    if others:
        are = "says" if len(others) == 1 else "say"
        same = f"{count_noun(len(others), 'other answer')} {are} the same in the same words"
        say(f"\n{same}: --alike marks them too")
    for text in saved:
        say(f"saved comment: {clean_line(text, 200)}")
    options = " ".join(f"--points {criterion.id}=…" for criterion in answer.rubric)
    say(f"  next: grade mark answer {answer.id} {options}")


def _show_result(
    answer: AnswerToMark, others: Sequence[AnswerToMark], following: AnswerToMark | None, blind: bool
) -> None:
    from engine.marks.marking_table import total_text

    also = f", and {count_noun(len(others), 'answer')} in the same words" if others else ""
    click.echo(f"{answer.field.id} {_who(answer, blind)}: {total_text(answer)}{also}")
    if following is None:
        click.echo("every answer to this question is marked")
    else:
        click.echo(f"  next: grade mark answer {following.id}")


def _answer_json(answer: AnswerToMark, blind: bool) -> dict[str, object]:
    marks = answer.marks
    return {
        "id": answer.id,
        "question": answer.field.id,
        "student": answer.pseudonym if blind else answer.student,
        "text": clean(answer.text, 20_000),
        "words": answer.words,
        "rubric": [
            {"id": c.id, "title": c.title.plain, "text": c.text.plain, "points": list(c.choices)}
            for c in answer.rubric
        ],
        "points": None if marks is None else dict(marks.points),
        "comments": None if marks is None else dict(marks.comments),
        "comment": None if marks is None else marks.comment,
        "by": None if marks is None else marks.by,
        "at": None if marks is None else marks.at.isoformat(),
    }


@click.command("export-answers")
@click.argument("question")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="Also those that are marked.")
@course_option
@store_option
def export_answers(question: str, file: Path, everything: bool, course_path: Path | None) -> None:
    """Write the answers to QUESTION into FILE, a CSV table for marking in a spreadsheet.

    Students have pseudonyms there. Fill in points and remarks, and read the table back with
    `grade mark import-answers`. An existing table is never overwritten.

    \b
    Example:
      grade mark export-answers week-1/why-scaled-scores to-mark.csv
    """
    from engine.marks.marking_table import marking_table

    context = find_context(course_path)
    with _open_marking(context) as (marking, store):
        field = _field_of(marking, question)
        answers = marking.answers(field, waiting_only=not everything)
        if not answers:
            step = "add --all to export them too"
            raise UsageError("every answer to this question is marked", next_step=step)
        table = "\ufeff" + marking_table(answers)
        # Points and remarks may be in it that nobody has read back yet.
        keep_work(
            file, table, next_step="read it back with grade mark import-answers, or choose another name"
        )
        log(context, store, "export.answers", field.id, answers=len(answers))
    with write_errors("the table can't be written", file, next_step="name a file that you may write"):
        replace_text(file, table, private=True)
    click.echo(f"{file}: {count_noun(len(answers), 'answer')}\n  next: grade mark import-answers {file}")


@click.command("import-answers")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--keep-going", is_flag=True, help="Store the lines without faults and leave out the others.")
@json_option
@by_option
@course_option
@store_option
def import_answers(file: Path, keep_going: bool, as_json: bool, by: str, course_path: Path | None) -> int:
    """Store the points and remarks of FILE, a table that `grade mark export-answers` wrote.

    Lines without points wait. If any line is at fault, every such line is reported and nothing is stored.
    What is stored already isn't stored again.

    Exit code 0: all is stored; 1: with --keep-going, all but some lines; 2: nothing is stored.

    \b
    Example:
      grade mark import-answers to-mark.csv --by "Prof. Weber"
    """
    from engine.marks.marking_table import read_marking

    context = find_context(course_path)
    with _open_marking(context) as (marking, store):
        rows, same, faults = read_marking(file, marking)
        if faults and not keep_going:
            raise CourseError.of_file(faults)
        now = datetime.now(UTC)
        # A line at a time: each is one decision, and stands in the history as one.
        untouched: list[AnswerToMark] = []
        for row in rows:
            with store.one_transaction():
                changed = marking.give(
                    [row.answer], row.points, by=by, at=now, comments=row.comments, comment=row.comment
                )
                untouched += changed
                if not changed:
                    log_lines(context, store, [_log_line(row.answer, sum(row.points.values()))], by=by)
        waiting = marking.waiting()
    for fault in faults:
        click.echo("\n".join(fault.lines()), err=True)
    stored = len(rows) - len(untouched)
    if as_json:
        lines = [{"line": fault.line, "message": fault.message} for fault in faults]
        print_json({"stored": stored, "stood": same, "changed": len(untouched), "faults": lines})
    else:
        click.echo(
            f"{stored} stored, {same} were there already, {len(faults)} at fault, {waiting} still wait"
        )
        if untouched:
            click.echo(f"{count_noun(len(untouched), 'answer')} changed meanwhile: import the table again")
    return 1 if faults or untouched else 0
