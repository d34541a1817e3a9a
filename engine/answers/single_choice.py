"""One of several options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from engine.answers.answer_type import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    WrittenOptions,
    letters,
)
from engine.answers.parsing import (
    NumberRows,
    format_error,
    normal_signs,
    read_labels,
    read_numbers,
    read_texts,
    same_words,
    without_asides,
)
from engine.draws.parameters import ImpossibleDraw, RedrawNeeded
from engine.draws.stream import RandomStream
from engine.errors import ResponseFormatError, UndefinedValueError
from engine.expressions.language import evaluate, require_finite
from engine.expressions.values import array_of, array_text, decimal_of, decimal_text, is_rounding_safe, unit
from engine.items import SingleChoiceAnswer
from engine.model import ChoiceOption, Diagnosis, FloatArray, Part, RenderedText
from engine.prose.text import formula_text, render_text
from engine.text.words import agree, count_noun

__all__ = ["SingleChoice", "draft", "draft_computed"]

_LONGEST = 2_000  # a letter or numbers, with what stands around them


class SingleChoice(AnswerType):
    """One letter, or the option's text or numbers.

    ``parse`` returns the option's id, or the mapping of a printed option that an erratum accepts.
    """

    name = "single_choice"

    def parse(self, text: str, part: Part) -> Any:
        """Return the chosen option's id.

        Raises
        ------
        ResponseFormatError
            It is none of the options, or several.
        """
        # An option's own text may be longer; twice, as text copied from a page has other blanks.
        most = max(_LONGEST, *(2 * len(option.text.plain) for option in part.options))
        if len(text) > most:
            raise format_error(
                f"the answer has {count_noun(len(text), 'character')}; at most {most} are read here",
                text[:60],
                expected=f"one letter from a to {part.options[-1].id}",
            )
        words = same_words(text)
        by_text = [option.id for option in part.options if same_words(option.text.plain) == words]
        if len(by_text) == 1:
            return by_text[0]
        if (found := self._by_value(text, part)) is not None:
            return found
        texts = read_texts(text, {option.id: option.text.plain for option in part.options})
        labels = [option.id for option in part.options]
        letters = list(dict.fromkeys(texts or read_labels(text, labels, "options")))
        if len(letters) > 1:
            raise format_error("choose one option only", text, expected=f"one letter from a to {labels[-1]}")
        return letters[0]

    def _by_value(self, text: str, part: Part) -> Any:
        """Return the option whose numbers were typed, if there is exactly one."""
        decimals = part.settings.get("decimals")
        for decimal_comma in (False, True):
            try:
                numbers = read_numbers(without_asides(normal_signs(text)), decimal_comma=decimal_comma)
            except ResponseFormatError:
                continue
            found: list[Any] = [
                option.id
                for option in part.options
                if option.value is not None and _same_numbers(numbers, option.value, decimals)
            ]
            if not found:
                found = [entry for entry in part.settings.get("accepted", ()) if _is_printed(numbers, entry)]
            if len(found) == 1:
                return found[0]
        return None

    def judge(self, part: Part, answer: Any) -> AnswerJudgement:
        """Judge one option."""
        if not isinstance(answer, str):
            message = f"Right: you gave the printed option ({answer['letter']}), which is accepted."
            return AnswerJudgement(1, message, notes=(answer["note"],) if answer["note"] else ())
        option = next(option for option in part.options if option.id == answer)
        if option.correct:
            return AnswerJudgement(1, f"Right. {option.feedback}".strip())
        diagnosis = (_known(option),) if option.misconception else ()
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

    def chance_score(self, part: Part) -> float:
        """Return one over the number of options."""
        return 1 / len(part.options)


def _known(option: ChoiceOption) -> Diagnosis:
    return Diagnosis(option.misconception or "", option.feedback or "This option is a known mistake.")


def _same_numbers(numbers: NumberRows, value: FloatArray, decimals: int | None) -> bool:
    if not _fits(numbers, value.shape):
        return False
    texts = [decimal_text(entry, decimals) for entry in value.data]
    return [Fraction(text) for text in texts] == list(numbers.entries)


def _is_printed(numbers: NumberRows, entry: Any) -> bool:
    if "numbers" not in entry or not _fits(numbers, tuple(entry["shape"])):
        return False
    return [Fraction(text) for text in entry["numbers"]] == list(numbers.entries)


def _fits(numbers: NumberRows, shape: tuple[int, ...]) -> bool:
    sizes = [len(row) for row in numbers.rows]
    if len(shape) == 2:
        return len(sizes) == shape[0] and set(sizes) == {shape[1]}
    count = shape[0] if shape else 1
    return len(numbers.entries) == count and (len(sizes) == 1 or max(sizes) == 1)


# ----------------------------------------------------------------------------------------------------
# Single choice: options by hand, or a computed key among what known mistakes give.

LEAST_UNITS = 3


@dataclass(frozen=True, slots=True)
class _Computed:
    """A computed option: numbers, or words."""

    array: FloatArray | None
    words: str
    misconception: str | None = None

    def text(self, decimals: int | None) -> RenderedText:
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


def _computed(text: str, context: FieldContext, misconception: str | None = None) -> tuple[Any, _Computed]:
    value = require_finite(evaluate(text, context.names), text)
    if isinstance(value, str):
        return value, _Computed(None, value, misconception)
    if isinstance(value, tuple) and not all(isinstance(entry, int) for entry in value):
        return value, _Computed(None, " ".join(map(str, value)), misconception)
    return value, _Computed(array_of(value), "", misconception)


def _too_close(a: _Computed, b: _Computed, decimals: int | None) -> bool:
    """Tell whether two options can be mistaken for each other after rounding."""
    if a.array is None or b.array is None:
        return a.array is None and b.array is None and a.words.casefold() == b.words.casefold()
    if a.array.shape != b.array.shape:
        return False
    pairs = list(zip(a.array.data, b.array.data, strict=True))
    if decimals is None:
        return all(decimal_of(x) == decimal_of(y) for x, y in pairs)
    steps = [abs(decimal_of(x) - decimal_of(y)) / unit(decimals) for x, y in pairs]
    rounded = [abs(round(decimal_of(x), decimals) - round(decimal_of(y), decimals)) for x, y in pairs]
    return max(steps) < LEAST_UNITS or max(rounded) < LEAST_UNITS * unit(decimals)


def draft(answer: SingleChoiceAnswer, context: FieldContext) -> FieldDraft:
    """Draft a single-choice field.

    Raises
    ------
    RedrawNeeded
        The key lies near a rounding tie, or two options come too close.
    ImpossibleDraw, engine.errors.ExpressionError
        The spec is at fault.
    """
    return (
        _draft_written(answer, context) if answer.key is None else draft_computed(answer, answer.key, context)
    )


def _draft_written(answer: SingleChoiceAnswer, context: FieldContext) -> FieldDraft:
    options = WrittenOptions(answer, context, "one right option and a wrong one are needed")
    right = options.right
    if answer.draw is None and len(right) != 1:
        raise ImpossibleDraw(
            f"{count_noun(len(right), 'option')} {agree(len(right), 'are')} marked correct, exactly "
            "one is needed"
        )
    value = answer.options[right[0]].text if len(right) == 1 else None
    return FieldDraft(value, options.pool.signature, options.builder({"decimals": None}))


def draft_computed(answer: SingleChoiceAnswer, key: str, context: FieldContext) -> FieldDraft:
    """Draft options of which all are computed.

    Raises
    ------
    Redraw, ImpossibleDraw, engine.errors.ExpressionError
        As :func:`draft`.
    """
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

    def build(scribe: FieldRenderer, stream: RandomStream) -> Part:
        ordered = _ordered(options, answer, stream)
        shown_options = tuple(
            ChoiceOption(
                name,
                option.text(answer.decimals),
                correct=option is right,
                value=option.array,
                misconception=option.misconception,
                feedback=_feedback(option, known, scribe),
            )
            for name, option in zip(letters(len(ordered)), ordered, strict=True)
        )
        keys = tuple(option.id for option in shown_options if option.correct)
        settings: dict[str, Any] = {"decimals": answer.decimals}
        if context.accepted:
            settings["accepted"] = [
                {**entry, "note": scribe.text(entry["note"], "erratum").plain if entry["note"] else ""}
                for entry in context.accepted
            ]
        return Part("", answer.type, 1.0, key_ids=keys, options=shown_options, settings=settings)

    signature: Any = right.words
    if right.array is not None:
        signature = (
            right.array.shape,
            tuple(decimal_text(entry, answer.decimals) for entry in right.array.data),
        )
    places = [answer.decimals] * (len(right.array.data) if right.array else 0)
    return FieldDraft(value, signature, build, places)


def _feedback(option: _Computed, known: dict[str, Any], scribe: FieldRenderer) -> str:
    if option.misconception is None:
        return ""
    return scribe.feedback(known[option.misconception].feedback, option.misconception)


def _ordered(
    options: Sequence[_Computed], answer: SingleChoiceAnswer, stream: RandomStream
) -> list[_Computed]:
    key, *others = options
    if answer.shuffle and answer.key_position is None:
        return stream.shuffled(options)
    if answer.shuffle:
        others = stream.shuffled(others)
    others.insert(answer.key_position or 0, key)
    return others
