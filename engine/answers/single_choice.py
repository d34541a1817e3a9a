"""One of several options: written by hand, or a computed key among what known mistakes give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    GuessScore,
    PartSettings,
    letters,
    sum_chances,
)
from engine.answers.options import WrittenOptions, rekeyed_choice
from engine.answers.reading_numbers import NumberRows, read_numbers
from engine.answers.reading_options import read_labels, read_texts, same_words, words_of_option
from engine.answers.typed_text import format_error, normal_signs, without_asides
from engine.draws import ImpossibleDraw, RandomStream, RedrawNeeded
from engine.errors import ResponseFormatError, UndefinedValueError
from engine.expressions.language import evaluate, require_finite
from engine.expressions.values import array_of, array_text, decimal_of, decimal_text, is_rounding_safe, unit
from engine.model import ChoiceOption, Diagnosis, FloatArray, Part, RenderedText
from engine.text.words import agree, count_noun

if TYPE_CHECKING:
    from engine.items import ItemMisconception, SingleChoiceAnswer

# A letter or numbers, with what surrounds them.
_LONGEST = 2_000
# Computed options stay apart by this many units of their last place, so that nobody who rounds one step the
# other way meets a wrong option.
LEAST_UNITS = 3


@dataclass(frozen=True, slots=True)
class SingleChoiceSettings(PartSettings):
    """Settings of a single choice.

    Parameters
    ----------
    decimals : int or None
        Decimal places of computed options.
    accepted : tuple of mapping
        Printed options that an erratum accepts: ``letter``, ``note``, and ``numbers`` with ``shape``.
    """

    decimals: int | None = None
    accepted: tuple[Mapping[str, Any], ...] = ()
    omit_empty: ClassVar[frozenset[str]] = frozenset({"accepted"})


class SingleChoice(AnswerType):
    """One letter, or the option's text or numbers.

    ``parse`` returns the option's id, or the mapping of a printed option that an erratum accepts.
    """

    name = "single_choice"
    picks_options = True
    invites_elimination = True

    def draft(self, answer: SingleChoiceAnswer, context: FieldContext) -> FieldDraft:
        """Draft a single-choice field."""
        if answer.key is None:
            return _draft_written(answer, context)
        return _draft_computed(answer, answer.key, context)

    def parse(self, text: str, part: Part) -> Any:
        """Return the chosen option's id."""
        # An option's own text may be longer; twice, as text copied from a page has other blanks.
        most = max(_LONGEST, *(2 * len(option.text.plain) for option in part.options))
        if len(text) > most:
            raise format_error(
                f"the answer has {count_noun(len(text), 'character')}; at most {most} are read here",
                text[:60],
                expected=f"one letter from a to {part.options[-1].id}",
            )
        words = same_words(text)
        by_text = [option.id for option in part.options if words_of_option(option.text.plain) == words]
        # Before letters: an option's text may itself be a single letter.
        if len(by_text) == 1:
            return by_text[0]
        if (option := self._by_value(text, part)) is not None:
            return option
        texts = read_texts(text, {option.id: option.text.plain for option in part.options})
        labels = [option.id for option in part.options]
        letters = list(dict.fromkeys(texts or read_labels(text, labels, "options")))
        if len(letters) > 1:
            raise format_error("choose one option only", text, expected=f"one letter from a to {labels[-1]}")
        return letters[0]

    def _by_value(self, text: str, part: Part) -> Any:
        """Return the option whose numbers were typed, if there is exactly one."""
        settings = SingleChoiceSettings.of(part)
        # Forms of other countries give "0,5": both readings are tried, and one option must fit.
        for decimal_comma in (False, True):
            try:
                rows = read_numbers(without_asides(normal_signs(text)), decimal_comma=decimal_comma)
            except ResponseFormatError:
                continue
            options: list[Any] = [
                option.id
                for option in part.options
                if option.value is not None and _same_numbers(rows, option.value, settings.decimals)
            ]
            options = options or [entry for entry in settings.accepted if _is_printed(rows, entry)]
            if len(options) == 1:
                return options[0]
        return None

    def judge(self, part: Part, answer: Any) -> AnswerJudgement:
        """Judge one option."""
        if not isinstance(answer, str):
            message = f"Right: you gave the printed option ({answer['letter']}), which is accepted."
            return AnswerJudgement(1, message, notes=(answer["note"],) if answer["note"] else ())
        option = next(option for option in part.options if option.id == answer)
        if option.correct:
            return AnswerJudgement(1, f"Right. {option.feedback}".strip())
        diagnosis = (option_diagnosis(option),) if option.misconception else ()
        feedback = "" if diagnosis else f" {option.feedback}"
        return AnswerJudgement(0, f"({option.id}) isn't right.{feedback}".strip(), diagnosis)

    def right_responses(self, part: Part) -> list[str]:
        """Return the letter in its usual forms, and the option's text."""
        key = part.key_ids[0]
        text = next(option.text.plain for option in part.options if option.id == key)
        return [key, key.upper(), f"({key})", f"{key})", f" {key}. ", text]

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return every wrong option."""
        return [(option.id, option.misconception) for option in part.options if not option.correct]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``one letter, a to d``."""
        return f"one letter, a to {part.options[-1].id}"

    def policy(self, part: Part) -> str:
        """Return that one option is right."""
        return "one option is right"

    def rekeyed(self, handed_out: Part, *, new: Part, old: Part, ids: Mapping[str, str]) -> Part:
        """Return the part with the option that is right now."""
        part = rekeyed_choice(handed_out)
        if len(part.key_ids) > 1:
            raise ValueError(f"{len(part.key_ids)} of the options that this variant shows are right now")
        return part

    def chance_score(self, part: Part) -> float:
        """Return one over the number of options."""
        return 1 / len(part.options)

    def guess(self, part: Part) -> GuessScore:
        """Return what any option earns."""
        shares = (float(self.judge(part, option.id).fraction) for option in part.options)
        return GuessScore(sum_chances((share, 1 / len(part.options)) for share in shares))


def option_diagnosis(option: ChoiceOption) -> Diagnosis:
    """Return the diagnosis of whoever picks an option that stands for a known mistake."""
    return Diagnosis(option.misconception or "", option.feedback or "This option is a known mistake.")


def _same_numbers(rows: NumberRows, value: FloatArray, decimals: int | None) -> bool:
    texts = [decimal_text(entry, decimals) for entry in value.data]
    return rows.has_shape(value.shape) and [Fraction(text) for text in texts] == list(rows.entries)


def _is_printed(rows: NumberRows, entry: Mapping[str, Any]) -> bool:
    if "numbers" not in entry or not rows.has_shape(tuple(entry["shape"])):
        return False
    return [Fraction(text) for text in entry["numbers"]] == list(rows.entries)


@dataclass(frozen=True, slots=True)
class _ComputedOption:
    # numbers, or words

    array: FloatArray | None
    words: str
    misconception: str | None = None

    def text(self, decimals: int | None) -> RenderedText:
        from engine.prose.stems import formula_text, render_text

        if self.array is None:
            return render_text(self.words, {}, inline=True)
        return formula_text(_latex(self.array, decimals))


def _latex(array: FloatArray, decimals: int | None) -> str:
    if len(array.shape) < 2:
        return array_text(array, [decimals] * len(array.data))
    width = array.shape[-1]
    cells = [decimal_text(value, decimals) for value in array.data]
    rows = [" & ".join(cells[i : i + width]) for i in range(0, len(cells), width)]
    return r"\begin{bmatrix} " + r" \\ ".join(rows) + r" \end{bmatrix}"


def _computed(
    text: str, context: FieldContext, misconception: str | None = None
) -> tuple[Any, _ComputedOption]:
    value = require_finite(evaluate(text, context.names), text)
    if isinstance(value, str):
        return value, _ComputedOption(None, value, misconception)
    if isinstance(value, tuple) and not all(isinstance(entry, int) for entry in value):
        return value, _ComputedOption(None, " ".join(map(str, value)), misconception)
    return value, _ComputedOption(array_of(value), "", misconception)


def _too_close(a: _ComputedOption, b: _ComputedOption, decimals: int | None) -> bool:
    """Return whether two options can be mistaken for each other after rounding."""
    if a.array is None or b.array is None:
        return a.array is None and b.array is None and a.words.casefold() == b.words.casefold()
    if a.array.shape != b.array.shape:
        return False
    pairs = list(zip(a.array.data, b.array.data, strict=True))
    if decimals is None:
        return all(decimal_of(x) == decimal_of(y) for x, y in pairs)
    # Both the exact values and the rounded ones must differ: rounding can bring two options together.
    steps = [abs(decimal_of(x) - decimal_of(y)) / unit(decimals) for x, y in pairs]
    rounded = [abs(round(decimal_of(x), decimals) - round(decimal_of(y), decimals)) for x, y in pairs]
    return max(steps) < LEAST_UNITS or max(rounded) < LEAST_UNITS * unit(decimals)


def _draft_written(answer: SingleChoiceAnswer, context: FieldContext) -> FieldDraft:
    options = WrittenOptions(answer, context, "one right option and a wrong one are needed")
    right = options.right
    if answer.draw is None and len(right) != 1:
        raise ImpossibleDraw(
            f"{count_noun(len(right), 'option')} {agree(len(right), 'are')} marked correct, exactly "
            "one is needed"
        )
    value = answer.options[right[0]].text if len(right) == 1 else None
    return FieldDraft(value, options.pool.signature, options.builder(SingleChoiceSettings()))


def _draft_computed(answer: SingleChoiceAnswer, key: str, context: FieldContext) -> FieldDraft:
    value, right = _computed(key, context)
    if right.array is not None and answer.decimals is not None:
        for entry in right.array.data:
            if not is_rounding_safe(entry, answer.decimals):
                raise RedrawNeeded(
                    f"the key stays away from a rounding tie at {count_noun(answer.decimals, 'decimal')}"
                )
    known = {m.id: m for m in context.misconceptions}
    options = [right]
    for name in answer.distractors:
        if name not in known:
            raise ImpossibleDraw(f"the distractor {name} isn't among the misconceptions")
        try:
            options.append(_computed(known[name].expr, context, name)[1])
        except UndefinedValueError:
            raise RedrawNeeded(f"{name} has a value") from None
    for a, b in combinations(options, 2):
        if _too_close(a, b, answer.decimals):
            names = [o.misconception or "the key" for o in (a, b)]
            raise RedrawNeeded(f"{names[0]} and {names[1]} differ by {LEAST_UNITS} units of the last place")

    def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
        ordered = _ordered(options, answer, stream)
        lettered = tuple(
            ChoiceOption(
                name,
                option.text(answer.decimals),
                correct=option is right,
                value=option.array,
                misconception=option.misconception,
                feedback=_feedback(option, known, renderer),
            )
            for name, option in zip(letters(len(ordered)), ordered, strict=True)
        )
        keys = tuple(option.id for option in lettered if option.correct)
        printed = tuple(
            {**entry, "note": renderer.text(entry["note"], "erratum").plain if entry["note"] else ""}
            for entry in context.accepted
        )
        settings = SingleChoiceSettings(decimals=answer.decimals, accepted=printed).as_json()
        return Part("", answer.type, 1.0, key_ids=keys, options=lettered, settings=settings)

    signature: Any = right.words
    if right.array is not None:
        signature = (
            right.array.shape,
            tuple(decimal_text(entry, answer.decimals) for entry in right.array.data),
        )
    places = [answer.decimals] * (len(right.array.data) if right.array else 0)
    return FieldDraft(value, signature, build, places)


def _feedback(
    option: _ComputedOption, known: Mapping[str, ItemMisconception], renderer: FieldRenderer
) -> str:
    if option.misconception is None:
        return ""
    return renderer.feedback(known[option.misconception].feedback, option.misconception)


def _ordered(
    options: Sequence[_ComputedOption], answer: SingleChoiceAnswer, stream: RandomStream
) -> list[_ComputedOption]:
    key, *others = options
    if answer.shuffle and answer.key_position is None:
        return stream.shuffled(options)
    if answer.shuffle:
        others = stream.shuffled(others)
    others.insert(answer.key_position or 0, key)
    return others
