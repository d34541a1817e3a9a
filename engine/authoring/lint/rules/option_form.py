"""No option gives itself away by its form: its length, or by referring to the others.

Students who know nothing pick the longest option, or "all of the above": both are right too often.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import mean, median

from engine.authoring.lint.subject import TEMPLATE_SPAN, LintFinding, LintSubject
from engine.items import MultipleChoiceAnswer, OptionSpec, SingleChoiceAnswer
from engine.text.words import count_noun
from engine.text.yaml_errors import Loc

_ALL_OF_THE_ABOVE = re.compile(
    r"\b(?:all|none|both|any|n?either) of (?:the )?(?:above|below|(?:other )?(?:option|answer|statement)s)\b"
    r"|\b(?:both|only) \(?[a-e]\)? (?:and|or) \(?[a-e]\)?\b",
    re.IGNORECASE,
)
_FORMULA = re.compile(rf"\$[^$]*+\$|{TEMPLATE_SPAN.pattern}")
LONGEST = 2.5  # times the median length of an item's options
SIDES = 1.5  # right and wrong options, on average
_SHORT = 25  # characters: options as short as this are never conspicuous
_POOL = (3, 5)  # right and wrong: of fewer, neighbours would see the same options


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield options that stand out by their length, refer to each other, or come from a small pool."""
    for name, answer in subject.spec.answers:
        loc = subject.loc_of(name)
        if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer) and answer.options:
            yield from _references(subject, answer.options, loc)
            yield from _lengths(subject, answer.options, loc)
            if answer.draw is not None:
                yield from _pool(subject, answer.options, loc)


def length(text: str) -> int:
    """Return how long an option looks: a formula or a filled-in value counts as six characters."""
    return len(" ".join(_FORMULA.sub("xxxxxx", text).split()))


def _references(subject: LintSubject, options: tuple[OptionSpec, ...], loc: Loc) -> Iterator[LintFinding]:
    for index, option in enumerate(options):
        if (match := _ALL_OF_THE_ABOVE.search(option.text)) is not None:
            message = f"an option refers to the others: {match[0]!r}"
            step = "write what is meant; or make it a multiple choice"
            yield subject.warning(message, (*loc, "options", index, "text"), next_step=step)


def _lengths(subject: LintSubject, options: tuple[OptionSpec, ...], loc: Loc) -> Iterator[LintFinding]:
    lengths = [length(option.text) for option in options]
    usual = max(median(lengths), _SHORT)
    for index, size in enumerate(lengths):
        if size > LONGEST * usual:
            yield subject.warning(
                "an option is much longer than the others",
                (*loc, "options", index, "text"),
                expected=(
                    f"at most {count_noun(LONGEST * usual, 'character', '.0f')} "
                    f"({LONGEST:g} times the median)"
                ),
                got=str(size),
                next_step="shorten it; what explains belongs into the feedback",
            )
    right = mean([size for size, option in zip(lengths, options, strict=True) if option.correct] or [0])
    wrong = mean([size for size, option in zip(lengths, options, strict=True) if not option.correct] or [0])
    if right and wrong and max(right, wrong) > _SHORT and not 1 / SIDES <= right / wrong <= SIDES:
        side = "right" if right > wrong else "wrong"
        yield subject.warning(
            f"the {side} options can be told by their length",
            (*loc, "options"),
            expected=f"average lengths within a factor of {SIDES:g}",
            got=f"{count_noun(right, 'character', '.0f')} for right options, {wrong:.0f} for wrong ones",
        )


def _pool(subject: LintSubject, options: tuple[OptionSpec, ...], loc: Loc) -> Iterator[LintFinding]:
    texts = {(option.text, option.correct) for option in options}
    right = sum(correct for _, correct in texts)
    sizes = (right, len(texts) - right)
    if sizes[0] < _POOL[0] or sizes[1] < _POOL[1]:
        yield subject.warning(
            "the pool of options is small",
            (*loc, "options"),
            expected=f"at least {_POOL[0]} right and {_POOL[1]} wrong options to draw from",
            got=f"{sizes[0]} and {sizes[1]}",
        )
