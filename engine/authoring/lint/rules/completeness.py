"""An item is complete: its solution shows the variant's numbers, its points fit the time it takes, its
pictures have an alternative text, and its formulas can be read on a page and in a terminal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from engine.authoring.lint.subject import (
    TEMPLATE_BLOCK,
    TEMPLATE_SPAN,
    LintFinding,
    LintSubject,
    StudentText,
    written_texts,
)
from engine.items import MultipleChoiceAnswer, SingleChoiceAnswer
from engine.text.words import count_noun

# Marks pay for work: most items of the bank earn a point in two to four minutes. Below 0.2 points a minute
# nobody begins, above 0.75 a quick guess is worth as much as a page of work. One point is never too much.
_LEAST_PER_MINUTE, _MOST_PER_MINUTE = 0.2, 0.75
# On paper six multiplications or function values a minute are quick. Reading and answering a part takes most
# of a minute, a difficult item isn't understood at once, and a choice without numbers takes minutes at most.
_OPERATIONS_PER_MINUTE, _LEAST_PER_PART, _HARD, _MOST_PER_CHOICE = 8, 0.6, 2, 8
_UNEVEN = 5  # the points of one step beside those of another


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield solutions without the variant's numbers, options of pools without feedback, unfitting points."""
    yield from _points(subject)
    spec = subject.spec
    # missing hints and solutions are reported by the prose rule, strict or not
    if spec.solution and "{{" not in spec.solution and _shows_numbers(subject):
        message = "the solution shows none of the variant's numbers"
        yield subject.warning(message, ("solution",), next_step="show them with {{ … }}")
    answer = spec.answer
    if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer) and answer.draw is not None:
        for index, option in enumerate(answer.options):
            if not option.feedback:
                message = f"an option of the pool has no feedback: {option.text.strip()[:60]}"
                step = "say why it is right or wrong"
                yield subject.warning(message, ("answer", "options", index), next_step=step)


def _points(subject: LintSubject) -> Iterator[LintFinding]:
    minutes, points = subject.spec.minutes, subject.spec.points
    if minutes is None:
        return
    yield from _minutes(subject, minutes)
    shares = [step.points for step in subject.spec.steps]
    if shares and max(shares) > _UNEVEN * min(shares):
        yield subject.warning(
            "one step is worth many times another one",
            ("steps", shares.index(max(shares)), "points"),
            expected=f"at most {_UNEVEN:g} times as much",
            got=", ".join(f"{share:g}" for share in shares),
        )
    least, most = _LEAST_PER_MINUTE * minutes, max(1.0, _MOST_PER_MINUTE * minutes)
    if not least <= points <= most:
        yield subject.warning(
            "the points are out of keeping with the time that the item takes",
            ("points",) if "points" in subject.spec.model_fields_set else (),
            expected=f"{least:.3g} to {count_noun(most, 'point', '.3g')} for "
            f"{count_noun(minutes, 'minute', 'g')}",
            got=f"{points:g}",
            next_step="change `points`, those of the steps, or `minutes`",
        )


def _minutes(subject: LintSubject, minutes: float) -> Iterator[LintFinding]:
    spec = subject.spec
    if subject.is_code:
        return
    operations = spec.effort.operations if spec.effort is not None else 0
    least = max(operations / _OPERATIONS_PER_MINUTE, _LEAST_PER_PART * len(spec.answers))
    least = max(least, _HARD) if spec.difficulty >= 4 else least
    works = spec.effort is not None or any(getattr(answer, "key", None) for _, answer in spec.answers)
    if minutes < least:
        yield subject.warning(
            "the item can't be done in the time that it states",
            ("minutes",),
            expected=f"at least {count_noun(math.ceil(least * 2) / 2, 'minute', 'g')}",
            got=f"{minutes:g}",
        )
    elif not works and minutes > _MOST_PER_CHOICE * len(spec.answers):
        yield subject.warning(
            "the item asks for nothing that takes the time that it states",
            ("minutes",),
            expected=f"at most {count_noun(_MOST_PER_CHOICE * len(spec.answers), 'minute', 'g')}",
            got=f"{minutes:g}",
        )


def _shows_numbers(subject: LintSubject) -> bool:
    """Return whether every variant asks about drawn numbers; cards of a pool may be missing."""
    spec = subject.spec
    question = " ".join((spec.stem, *(step.prompt for step in spec.steps)))
    computed = any(getattr(answer, "key", None) is not None for _, answer in spec.answers)
    has_drawn = any(parameter.kind != "fixed" for parameter in spec.parameters.values())
    return has_drawn and (computed or "{{" in question)


_PICTURE = re.compile(r"<svg\b(?:(?!</?svg\b).)*+</svg>", re.DOTALL | re.IGNORECASE)
_LABEL = re.compile(
    r'\baria-label="([^"]*)"|<title\b[^>]*>(.*?)</title>|<desc\b[^>]*>(.*?)</desc>', re.DOTALL
)


def check_pictures(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield pictures without an alternative text, or with one that has no number."""
    for variant in subject.variants[:1]:
        texts = [("stem", variant.stem)] + ([("solution", variant.solution)] if variant.solution else [])
        for where, text in texts:
            for picture in _PICTURE.findall(text.html):
                words = " ".join("".join(match) for match in _LABEL.findall(picture))
                if not re.search(r"\d", words):
                    message = "a picture has no alternative text that carries its numbers"
                    yield subject.warning(message, (where,), got=words[:80] or "no text")


LONGEST_INLINE = 110  # characters of plain text, about a line
# looks like maths and is outside dollars: an index, a power, a product, a root, a Greek name
_BARE = re.compile(
    r"\b[A-Za-z]_[A-Za-z0-9]\b|\b[A-Za-z0-9]\^\w|\b\d+ ?\* ?\d+\b|\b(?:sqrt|exp)\(|\b(?:alpha|sigma)_\w"
)
_LEFT_OVER = re.compile(r"\\[A-Za-z]+")
_MATHS = re.compile(r"\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)
_CODE = re.compile(rf"```.*?```|`[^`\n]*`|{TEMPLATE_BLOCK.pattern}|{TEMPLATE_SPAN.pattern}", re.DOTALL)


def check_formulas(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield maths outside dollars, LaTeX that stays in the plain text, and formulas that don't fit a line."""
    for written in _prose(subject):
        prose = _MATHS.sub(" ", _CODE.sub(" ", written.text))
        if (bare := _BARE.search(prose)) is not None:
            message = f"{bare[0]!r} is maths outside dollars"
            yield subject.warning(message, written.loc, next_step=f"write it as a formula: ${bare[0]}$")
    for variant in subject.variants[:1]:
        texts = [(variant.stem, "stem"), *((hint, "hints") for hint in variant.hints)]
        texts += [(variant.solution, "solution")] if variant.solution else []
        for text, where in texts:
            if not subject.is_code and (macro := _LEFT_OVER.search(text.plain)) is not None:
                yield subject.warning(f"the plain text shows {macro[0]!r}", (where,), got=text.plain[:80])
    yield from _long(subject)


def _prose(subject: LintSubject) -> list[StudentText]:
    """Return the texts of the item itself, without its notes on the source.

    Messages and feedback of a code exercise are shown as they stand, beside code: they hold no formulas.
    """
    plain = {"erratum", "feedback"} if subject.is_code else {"erratum"}
    return [written for written in written_texts(subject.spec) if written.kind not in plain]


def _long(subject: LintSubject) -> Iterator[LintFinding]:
    from engine.prose.maths import MathsError, maths_forms

    for written in _prose(subject):
        for formula in re.findall(r"(?<!\$)\$([^$\n]+)\$(?!\$)", _CODE.sub("0.123", written.text)):
            try:
                plain, _ = maths_forms(formula, False)
            except MathsError:
                continue  # the loader has said so, or it is filled in only later
            if len(plain) > LONGEST_INLINE:
                yield subject.warning(
                    "a formula within a line is longer than a line",
                    written.loc,
                    expected=f"at most {LONGEST_INLINE} characters",
                    got=f"{len(plain)}: {plain[:60]} …",
                    next_step="put it on a line of its own, between $$ and $$",
                )
