"""The item analysis of what a store holds: which tests are chosen, and what they are called."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from engine.analysis.class_report import ItemReport, build
from engine.analysis.first_attempts import ItemTest, ItemTestKind, collect
from engine.analysis.mistakes import KnownMistakes
from engine.errors import UsageError
from engine.items.bank import Bank
from engine.model import Mode
from engine.store import Store
from engine.text.words import did_you_mean


def report_of_store(
    store: Store,
    bank: Bank,
    mode: Mode,
    *,
    title: str,
    quizzes: Collection[str] = (),
    code: bool = False,
    items: Sequence[str] = (),
) -> ItemReport:
    """Return the report on first attempts: at some quizzes and at code exercises, or at everything.

    Parameters
    ----------
    store : Store
    bank : Bank
    mode : Mode
    title : str
        Of the course.
    quizzes : collection of str
        Names of quizzes.
    code : bool
        The code exercises.
    items : sequence of str
        Show only these, compared with their whole tests.

    Raises
    ------
    UsageError
        No such quiz was drawn, or nobody handed in anything for one of the items.
    """
    titles = store.sittings.quiz_titles()
    for quiz in quizzes:
        if quiz not in titles:
            raise UsageError(
                "no quiz of this name was drawn", got=quiz, expected=", ".join(titles) or "there is none yet"
            )
    chosen = {ItemTest(ItemTestKind.QUIZ, quiz) for quiz in quizzes}
    # Nothing chosen means everything.
    chosen |= {ItemTest(ItemTestKind.CODE)} if code else set()
    collected = collect(
        store, mode, title_of=bank.title_of, is_chosen=lambda test: not chosen or test in chosen
    )
    attempted = sorted({item for _, item in collected.missing})
    for item in items:
        if item not in attempted:
            raise UsageError(f"nobody handed in anything for {item!r} there{did_you_mean(item, attempted)}")
    return build(
        collected,
        KnownMistakes.of_bank(bank, attempted),
        title=title,
        mode=str(mode),
        title_of=lambda test: _test_title(test, titles),
        items=items,
    )


def _test_title(test: ItemTest, titles: dict[str, str]) -> str:
    if test.name:
        return titles.get(test.name, test.name)
    return "Code exercises" if test.kind == "code" else "Answers outside quizzes"
