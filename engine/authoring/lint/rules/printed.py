"""A printed exercise is recomputed; each fault of its options must be declared as an erratum, and be one.

A lecture's own exercises have misprints: options that are misrounded, or none that is right. Whether an
erratum is needed, and of which kind, follows from the numbers alone, so neither a forgotten nor an invented
erratum gets through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.errors import SoftmarkError
from engine.items import MultipleChoiceAnswer, PrintedExercise, SingleChoiceAnswer, SourceErratum
from engine.text.words import count_noun

Numbers = tuple[float, ...]
_SLACK = 1e-9  # rounding errors of doubles, far below any printed place


def rounded(values: Sequence[float], decimals: int, rule: str = ROUND_HALF_EVEN) -> tuple[Decimal, ...]:
    """Round each value to so many decimals, by its decimal text and not its binary form; 0 has no sign."""
    place = Decimal(1).scaleb(-decimals)
    # twelve decimals: 0.125 must be a tie, whatever the last bits of the double say
    return tuple(Decimal(f"{value:.12f}").quantize(place, rounding=rule) + 0 for value in values)


@dataclass(frozen=True, slots=True)
class OptionRecomputation:
    """Printed options compared with the recomputed key.

    Parameters
    ----------
    exact : tuple of float
        The key, unrounded.
    decimals : int
        Decimals to which the source rounds.
    distances : mapping of str to float
        Largest distance between an option's entries and the exact ones, by letter; infinite where
        the sizes differ.
    matches : tuple of str
        Letters whose option is the key rounded (half-even, half-up or half-down: on a tie all count).
    """

    exact: Numbers
    decimals: int
    distances: Mapping[str, float]
    matches: tuple[str, ...]

    @property
    def unit(self) -> float:
        """One unit of the last printed place."""
        return float(10**-self.decimals)

    @property
    def nearest(self) -> str:
        """Letter of the nearest option."""
        return min(self.distances, key=lambda letter: self.distances[letter])

    @property
    def erratum_kind(self) -> str | None:
        """The erratum that these options need: None when one of them is right."""
        if self.matches:
            return None
        within_unit = self.distances[self.nearest] <= self.unit + _SLACK
        return "nearest_option_misrounded" if within_unit else "no_correct_option"

    def describe(self) -> str:
        """Return exact value, rounded value and each option's distance, in one line."""
        exact = ", ".join(f"{value:.6f}" for value in self.exact)
        short = ", ".join(str(value) for value in rounded(self.exact, self.decimals))
        distances = ", ".join(f"({letter}) {distance:.6f}" for letter, distance in self.distances.items())
        return f"exact value ({exact}), rounded ({short}), distance of each printed option: {distances}"


def recompute(
    exact: Sequence[float], options: Mapping[str, Sequence[float]], decimals: int
) -> OptionRecomputation:
    """Compare printed options with the exact key.

    Parameters
    ----------
    exact : sequence of float
        The key's entries.
    options : mapping of str to sequence of float
        Printed entries by letter; at least one option.
    decimals : int
        Decimals to which the source rounds.
    """
    # a source doesn't say how it rounds ties, so any rule makes its option right
    ways = {rounded(exact, decimals, rule) for rule in (ROUND_HALF_EVEN, ROUND_HALF_UP, ROUND_HALF_DOWN)}
    as_decimals = {letter: tuple(Decimal(str(x)) for x in option) for letter, option in options.items()}
    return OptionRecomputation(
        exact=tuple(exact),
        decimals=decimals,
        distances={letter: _distance(exact, option) for letter, option in options.items()},
        matches=tuple(letter for letter, option in as_decimals.items() if option in ways),
    )


def _distance(exact: Sequence[float], option: Sequence[float]) -> float:
    if len(exact) != len(option):
        return float("inf")  # another number of entries is never the nearest
    return max(abs(float(a) - float(b)) for a, b in zip(exact, option, strict=True))


_OTHER_ORDER = re.compile(r"options\s+stand\s+in\s+another\s+order", re.IGNORECASE)
OPTION_FAULTS = ("nearest_option_misrounded", "no_correct_option")


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield every way in which printed options, declared errata and the scored version disagree."""
    spec, printed = subject.spec, subject.spec.printed
    declared = [(i, e) for i, e in enumerate(spec.errata) if e.kind in OPTION_FAULTS]
    if printed is None:
        for index, erratum in declared:
            message = f"erratum {erratum.id} is about printed options, but none are quoted"
            yield subject.fault(message, ("errata", index), next_step="add printed:")
        return
    if printed.expr is None:
        yield from _concept(subject, printed, declared)
    else:
        yield from _numeric(subject, printed, printed.expr, declared)
    yield from _status(subject)
    yield from _scored_version(subject, printed)


def _numeric(
    subject: LintSubject, printed: PrintedExercise, expr: str, declared: Sequence[tuple[int, SourceErratum]]
) -> Iterator[LintFinding]:
    if printed.decimals is None:
        message = "a printed exercise with an expression needs the decimals to which it rounds"
        yield subject.fault(message, ("printed",), next_step="add decimals:")
        return
    try:
        exact = _exact(subject, expr)
        options = {letter: _numbers(option) for letter, option in printed.options.items()}
    except (SoftmarkError, TypeError, ValueError) as error:
        reason = error.what if isinstance(error, SoftmarkError) else str(error)
        yield subject.fault(f"the printed exercise can't be recomputed: {reason}", ("printed", "expr"))
        return
    result = recompute(exact, options, printed.decimals)
    subject.facts["printed"] = result.describe()
    if declared:
        subject.facts["errata"] = [erratum.id for _, erratum in declared]
    yield from _coinciding(subject, result)
    yield from _declarations(subject, result, declared)
    yield from _printed_key(subject, printed, result)


def _exact(subject: LintSubject, expr: str) -> tuple[float, ...]:
    from engine.expressions.values import array_of

    return array_of(subject.evaluate_fixed(expr)).data


def _numbers(option: Any) -> tuple[float, ...]:
    if isinstance(option, list | tuple):
        return tuple(number for entry in option for number in _numbers(entry))
    # bool is an int in Python, but true isn't a printed number
    if isinstance(option, bool) or not isinstance(option, int | float):
        raise ValueError(f"the printed option {str(option)[:40]!r} is neither a number nor a list of numbers")
    return (float(option),)


def _coinciding(subject: LintSubject, result: OptionRecomputation) -> Iterator[LintFinding]:
    if len(result.matches) > 1:
        letters = ", ".join(f"({letter})" for letter in result.matches)
        message = f"more than one printed option is right: {letters}; {result.describe()}"
        yield subject.fault(message, ("printed", "options"))


def _declarations(
    subject: LintSubject, result: OptionRecomputation, declared: Sequence[tuple[int, SourceErratum]]
) -> Iterator[LintFinding]:
    needed = result.erratum_kind
    for index, erratum in declared:
        loc = ("errata", index)
        if needed is None:
            yield subject.fault(
                f"erratum {erratum.id} isn't true: printed option ({result.matches[0]}) is the key "
                f"exactly rounded; {result.describe()}",
                loc,
                next_step="drop the erratum, or check the printed options against the source",
            )
        elif erratum.kind != needed:
            message = f"erratum {erratum.id} is of another kind than the numbers show; {result.describe()}"
            yield subject.fault(message, (*loc, "kind"), expected=needed, got=erratum.kind)
        else:
            yield from _intended(subject, result, erratum, loc)
    if needed is not None and not declared:
        yield _undeclared(subject, result, needed)


def _undeclared(subject: LintSubject, result: OptionRecomputation, needed: str) -> LintFinding:
    nearest = result.nearest
    if needed == "nearest_option_misrounded":
        why = (
            f"no printed option is the key rounded to {count_noun(result.decimals, 'decimal')}; "
            f"option ({nearest}) is the "
            f"nearest: within one unit of the last place ({result.unit:g}) and beyond half a unit"
        )
        hint = f"declare an erratum of kind nearest_option_misrounded with intended_option: {nearest}"
    else:
        why = (
            f"no printed option is right: even the nearest, ({nearest}), is more than one unit of the last "
            f"place ({result.unit:g}) away"
        )
        hint = "declare an erratum of kind no_correct_option"
    return subject.fault(f"{why}; {result.describe()}", ("printed", "options"), next_step=hint)


def _intended(
    subject: LintSubject,
    result: OptionRecomputation,
    erratum: SourceErratum,
    loc: tuple[int | str, ...],
) -> Iterator[LintFinding]:
    if erratum.kind == "nearest_option_misrounded" and erratum.intended_option != result.nearest:
        message = f"erratum {erratum.id} names another intended option than the nearest one"
        message = f"{message}; {result.describe()}"
        yield subject.fault(
            message, (*loc, "intended_option"), expected=result.nearest, got=erratum.intended_option or "none"
        )
    if erratum.kind == "no_correct_option" and (erratum.intended_option or erratum.accept_intended):
        yield subject.fault(
            f"erratum {erratum.id} accepts an option though none is near; {result.describe()}",
            (*loc, "intended_option"),
            expected="none",
            got=erratum.intended_option or "accept_intended",
        )


def _printed_key(
    subject: LintSubject, printed: PrintedExercise, result: OptionRecomputation
) -> Iterator[LintFinding]:
    right_letter = result.matches[0] if len(result.matches) == 1 else None
    if printed.key != right_letter:
        yield subject.fault(
            f"the printed key isn't what the recomputation gives; {result.describe()}",
            ("printed", "key"),
            expected=right_letter or "null: no printed option is right",
            got=str(printed.key),
        )
    if printed.scored and right_letter is None:
        message = "the exercise can't be scored as it is printed: it has no right option"
        yield subject.fault(message, ("printed", "scored"), expected="false")


def _concept(
    subject: LintSubject, printed: PrintedExercise, declared: Sequence[tuple[int, SourceErratum]]
) -> Iterator[LintFinding]:
    for letter in _letters(printed.key):
        if letter not in printed.options:
            yield subject.fault(f"the printed key names no printed option: {letter}", ("printed", "key"))
    numeric = [
        letter
        for letter, option in printed.options.items()
        if isinstance(option, list | tuple | int | float) and not isinstance(option, bool)
    ]
    if numeric:
        message = "the printed options are numbers, but there is no expression to recompute them with"
        yield subject.fault(message, ("printed",), next_step="add expr: and decimals:")
    elif printed.key is None and not declared:
        message = "the printed exercise has no right option and no erratum says so"
        yield subject.fault(message, ("printed", "key"))


def _letters(key: str | tuple[str, ...] | None) -> tuple[str, ...]:
    if key is None:
        return ()
    return (key,) if isinstance(key, str) else key


def _status(subject: LintSubject) -> Iterator[LintFinding]:
    spec = subject.spec
    faulty = any(erratum.kind in OPTION_FAULTS for erratum in spec.errata)
    if faulty and spec.status == "ok":
        yield subject.fault(
            "the item declares a fault of its options but has status ok", ("status",), expected="erratum"
        )
    if spec.status == "erratum" and not spec.errata:
        message = "the item has status erratum but declares none"
        yield subject.fault(message, ("status",), next_step="declare the erratum, or set status: ok")


def _scored_version(subject: LintSubject, printed: PrintedExercise) -> Iterator[LintFinding]:
    """Yield right options of the scored version whose letters aren't those of the print."""
    answer = subject.spec.answer
    if not isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer):
        return
    if isinstance(answer, SingleChoiceAnswer) and answer.key is not None and printed.expr is not None:
        yield from _same_question(subject, printed, printed.expr, answer, answer.key)
    accepted = [e.intended_option for e in subject.spec.errata if e.accept_intended and e.intended_option]
    printed_letters = set(_letters(printed.key)) | set(accepted)
    if not printed_letters:
        return
    scored_letters = set(_scored_letters(answer))
    if answer.shuffle and _OTHER_ORDER.search(subject.spec.stem):
        return  # other letters, but the stem tells students so
    if answer.shuffle or scored_letters != printed_letters:
        yield subject.fault(
            "the scored version puts its right options elsewhere than the print",
            ("answer",),
            expected=", ".join(sorted(printed_letters)) + ", unshuffled",
            got=", ".join(sorted(scored_letters)) + (", shuffled" if answer.shuffle else ""),
            next_step="set shuffle: false and key_position, so that the letters match the print; or write "
            "into the stem that the options are in another order than in the source",
        )


def _same_question(
    subject: LintSubject, printed: PrintedExercise, expr: str, answer: SingleChoiceAnswer, key: str
) -> Iterator[LintFinding]:
    try:
        exact, scored = _exact(subject, expr), _exact(subject, key)
    except SoftmarkError:  # reported where the print is recomputed, or where a variant is drawn
        return
    if len(exact) != len(scored) or max(abs(a - b) for a, b in zip(exact, scored, strict=True)) > 1e-9:
        message = "the key of the scored version isn't the recomputed value of the printed exercise"
        yield subject.fault(
            message, ("answer", "key"), expected=_numbers_text(exact), got=_numbers_text(scored)
        )
    if answer.decimals != printed.decimals:
        message = "the scored version rounds to other decimals than the print"
        yield subject.fault(
            message, ("answer", "decimals"), expected=str(printed.decimals), got=str(answer.decimals)
        )


def _numbers_text(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.6f}" for value in values)


def _scored_letters(answer: SingleChoiceAnswer | MultipleChoiceAnswer) -> list[str]:
    if isinstance(answer, SingleChoiceAnswer) and not answer.options:
        return [chr(ord("a") + (answer.key_position or 0))]
    return [chr(ord("a") + index) for index, option in enumerate(answer.options) if option.correct]
