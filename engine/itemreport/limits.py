"""What the figures can't say, from the data at hand."""

from __future__ import annotations

from engine.itemreport.build import Report, TestFigures
from engine.itemreport.irt import Fitted
from engine.plurals import agree, counted

__all__ = ["limits_of", "test_limits"]

_FEW = 30
_LITTLE_IN_COMMON = 30


def limits_of(report: Report) -> list[str]:
    """Return what holds for the whole report, one sentence or two each."""
    said = [
        "Only first attempts are counted: they show what students could do before feedback, and nothing of "
        f"what they learned from it. {counted(report.later, 'later attempt')} "
        f"{agree(report.later, 'are')} left out. Marks by hand and rules about marks don't touch "
        "these figures.",
        "Everybody is here who handed something in. Who stayed away, or left out an exercise that could be "
        "chosen, isn't; a hard item that only able students tried looks easier than it is.",
        "A figure about an item is a figure about this class. With other students it is another one.",
        "A low or negative discrimination is a reason to read the item again, not a proof of a fault; a high "
        "one doesn't show that the item asks for the right thing.",
    ]
    if report.mode == "practice":
        said.append(
            "This is practice: students may have looked things up, and who practises isn't the class."
        )
    if report.mistakes:
        said.append(
            "A misconception is named where an answer equals what that mistake gives. Chance and slips can "
            "give the same, other mistakes aren't seen at all, and one answer in one item says little of a "
            "person."
        )
    if any(item.family is not None for test in report.tests for item in test.items):
        said.append(
            "Variants that aren't flagged needn't be equally hard: with few students only large differences "
            "show. A flag says that chance explains the difference badly, not that it is large."
        )
    return said


def test_limits(figures: TestFigures) -> list[str]:
    """Return what holds for one test."""
    said = []
    students = len(figures.students)
    if students < _FEW:
        said.append(
            f"{counted(students, 'student')}: intervals are wide, and single answers decide over "
            "correlations."
        )
    if not figures.is_common:
        fewest = figures.reliability.fewest
        few = f" The pair with the fewest has {counted(fewest, 'student')}."
        said.append(
            "Not everybody has all items, so items are compared over those who have both, and students by "
            f"their mean distance from the items' means.{few if fewest < _LITTLE_IN_COMMON else ''}"
        )
        if figures.reliability.unseen_pairs:
            pairs = figures.reliability.unseen_pairs
            said.append(f"For {counted(pairs, 'pair')} of items there are no two students who have both.")
    with_parts = [item.item for item in figures.items if item.parts]
    if with_parts:
        said.append(
            "The answer fields of one item hang together, so they are summed to one score "
            f"({', '.join(with_parts[:8])}{' …' if len(with_parts) > 8 else ''}); field by field they are "
            "only described."
        )
    missing = sum(item.missing.ungraded for item in figures.items)
    unreadable = sum(item.missing.unreadable for item in figures.items)
    if missing or unreadable:
        left_out = [f"{counted(missing, 'first attempt')} without a mark"] if missing else []
        left_out += [f"{counted(unreadable, 'answer')} that can't be read"] if unreadable else []
        verb = agree(missing + unreadable, "are")
        said.append(f"{' and '.join(left_out)} {verb} left out here, neither right nor wrong.")
    fits = [model for model in (figures.irt.rasch, figures.irt.own_slopes) if isinstance(model, Fitted)]
    if fits:
        said.append(
            "The models take every answer to be right or wrong, and one ability to be behind them all. Only "
            "full marks count as right."
        )
    return said
