"""``grade find-variant``: numbers or a text that somebody came across, and whose variant it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engine.commands.context import find_context
from engine.commands.journal import log
from engine.commands.options import course_option, json_option, store_option
from engine.commands.terminal import print_json, show_table
from engine.errors import UsageError
from engine.text.files import read_text
from engine.text.words import clean_line, count_noun, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engine.quiz.variant_search import VariantMatch, VariantSearch

# Less than this is worth reading, and no finding.
_PROBABLE = 0.5
# Evidence is never all of it.
_MOST_CERTAIN = 0.999


# Numbers such as -0.5 are no options.
@click.command("find-variant", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[TEXT]...")
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    default=None,
    help="A file with the text; - reads standard input.",
)
@click.option("--quiz", default=None, help="Only variants of this quiz (its name).")
@click.option("--most", type=click.IntRange(1, 100), default=10, help="How many to list (default: 10).")
@json_option
@course_option
@store_option
def command(
    words: tuple[str, ...],
    path: Path | None,
    quiz: str | None,
    most: int,
    as_json: bool,
    course_path: Path | None,
) -> int:
    """Find whose variant TEXT comes from: numbers, a quotation, or a page found online.

    TEXT is compared with every variant drawn, for later attempts too, as students see it: numbers, words,
    the order of options. Each match has a certainty. Keys aren't shown.

    Exit code 0: at least one is probable; 1: none.

    \b
    Examples:
      grade find-variant 0.7 -1.2 3.1 --course attention-2026
      grade find-variant --file posted.txt --quiz l16 --course attention-2026
    """
    from engine.quiz.variant_search import drawn_variants, find_variants

    if bool(words) == (path is not None):
        raise UsageError("say what to look for", expected="numbers or words, or --file FILE")
    text = " ".join(words) if path is None else _text_of(path)
    context = find_context(course_path)
    with context.open_store() as store:
        if quiz is not None and quiz not in store.quiz_names():
            names = ", ".join(store.quiz_names()) or "none was drawn here"
            raise UsageError(f"quiz {clean_line(quiz)!r} was not drawn", expected=names)
        result = find_variants(drawn_variants(store, quiz), text, most=most)
        log(context, store, "variant.find", quiz or "all quizzes", matches=len(result.matches))
    if as_json:
        print_json(_as_json(result))
    else:
        _show(result, context.names)
    return 0 if result.matches and result.matches[0].certainty >= _PROBABLE else 1


def _text_of(path: Path) -> str:
    if str(path) == "-":
        from engine.quiz.variant_search import MOST_TEXT

        return sys.stdin.read(MOST_TEXT)
    return read_text(path)


def _show(result: VariantSearch, names: Mapping[str, str]) -> None:
    if not result.matches:
        click.echo(f"none of {count_noun(result.searched, 'variant')} matches")
        return
    (quiz, item), certainty = next(iter(result.questions.items()))
    if result.matches[0].certainty < _PROBABLE <= certainty:
        which = f"{item} of quiz {clean_line(quiz)} ({percent(min(certainty, _MOST_CERTAIN))} certain)"
        click.echo(f"This is {which}, but nothing in the text tells whose variant.")
    elif result.matches[0].certainty < _PROBABLE:
        click.echo("Nothing matches well; these come closest.")
    rows = [row for match in result.matches for row in _rows(match, names)]
    show_table(["certain", "student", "name", "quiz", "question", "item", "attempt", "numbers"], rows)


def _rows(match: VariantMatch, names: Mapping[str, str]) -> list[list[str]]:
    certain = percent(min(match.certainty, _MOST_CERTAIN))
    return [
        [
            certain if not index else "same",
            owner.student,
            names.get(owner.student, ""),
            owner.quiz,
            str(owner.number),
            match.item,
            str(owner.retry + 1),
            f"{len(match.numbers)} of {match.of}",
        ]
        for index, owner in enumerate(match.owners)
    ]


def _as_json(result: VariantSearch) -> dict[str, object]:
    return {
        "searched": result.searched,
        "matches": [
            {
                "certainty": round(match.certainty, 4),
                "item": match.item,
                "numbers": list(match.numbers),
                "numbers_of_variant": match.of,
                "owners": [
                    {"student": o.student, "quiz": o.quiz, "question": o.number, "attempt": o.retry + 1}
                    for o in match.owners
                ],
            }
            for match in result.matches
        ],
        "questions": [
            {"quiz": quiz, "item": item, "certainty": round(certainty, 4)}
            for (quiz, item), certainty in result.questions.items()
            if certainty >= 0.01
        ],
    }
