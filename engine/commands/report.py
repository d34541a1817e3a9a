"""``grade report``: which items worked, from first attempts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.options import course_option, json_option, store_option
from engine.errors import UsageError

if TYPE_CHECKING:
    from engine.commands.workplace import Workplace
    from engine.itemreport.build import Report
    from engine.itemreport.work import Test
    from engine.store import Store

__all__ = ["command"]


@click.command("report")
@click.option("--quiz", "quizzes", multiple=True, help="The quiz of this name; may be given several times.")
@click.option("--code", is_flag=True, help="The code exercises.")
@click.option("--item", "items", multiple=True, help="Show only this item, set against its whole test.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="Folder for the page and tables.")
@click.option("--anonymous", is_flag=True, help="Number the students instead of naming them.")
@click.option("--abilities", is_flag=True, help="Also write abilities.csv, where a model was fitted.")
@json_option
@course_option
@store_option
def command(
    quizzes: tuple[str, ...],
    code: bool,
    items: tuple[str, ...],
    out: Path | None,
    anonymous: bool,
    abilities: bool,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Show how each item worked: how hard it was, whether it tells students apart, which mistakes came up.

    Counts first attempts in the store, of everything or of what is named. Nothing is stored and no mark
    changes. Tests and models need: pip install "softmark[stats]".

    \b
    Example:
      grade report --course attention-2026 --out report
      grade report --quiz week-3 --item softmax-weights
      grade report --code --anonymous --json
    """
    from engine.commands.workplace import find_workplace
    from engine.course import People
    from engine.itemreport.document import as_json as document
    from engine.itemreport.pages import write_report

    if abilities and out is None:
        raise UsageError("--abilities writes a file", expected="--abilities with --out DIR")
    workplace = find_workplace(course_path)
    roster = workplace.course.roster(tolerant=True) if workplace.course else None
    with workplace.open_marks() as store:
        report = _report(workplace, store, quizzes, code, items)
    names = {student.id: student.name for student in roster.students} if roster else {}
    people = People(names, is_hidden=anonymous)
    written = write_report(out, report, people, with_abilities=abilities) if out else []
    if as_json:
        click.echo(json.dumps(document(report, people), ensure_ascii=True, indent=2))
    else:
        from engine.commands.report_tables import tell_report

        tell_report(report, written)
    return 0


def _report(
    workplace: Workplace, store: Store, quizzes: tuple[str, ...], code: bool, items: tuple[str, ...]
) -> Report:
    from engine.itemreport.build import build
    from engine.itemreport.gather import collect
    from engine.itemreport.mistakes import KnownMistakes
    from engine.itemreport.work import Kind, Test

    titles = store.sittings.quiz_titles()
    for quiz in quizzes:
        if quiz not in titles:
            raise UsageError(
                "no quiz of this name was drawn", got=quiz, expected=", ".join(titles) or "there is none yet"
            )
    chosen = {Test(Kind.QUIZ, quiz) for quiz in quizzes} | ({Test(Kind.CODE)} if code else set())
    collected = collect(
        store,
        workplace.mode,
        title_of=_title_of(workplace),
        wanted=lambda test: not chosen or test in chosen,
    )
    seen = sorted({item for _, item in collected.missing})
    for item in items:
        if item not in seen:
            from engine.spec.wording import did_you_mean

            raise UsageError(f"nobody handed in anything for {item!r} there{did_you_mean(item, seen)}")
    return build(
        collected,
        KnownMistakes.of_bank(workplace.bank, seen),
        title=workplace.course.title if workplace.course else "Practice",
        mode=str(workplace.mode),
        title_of=lambda test: _test_title(test, titles),
        items=items,
    )


def _title_of(workplace: Workplace) -> Callable[[str], str]:
    from functools import cache

    from engine.errors import InputError

    @cache
    def title(item: str) -> str:
        try:
            return workplace.bank.load(item).title
        except InputError:
            return item

    return title


def _test_title(test: Test, titles: dict[str, str]) -> str:
    if test.name:
        return titles.get(test.name, test.name)
    return "Code exercises" if test.kind == "code" else "Answers outside quizzes"
