"""What candidates may enter: right, wrong in known ways, at the edge, spelt otherwise, nothing, nonsense.

An answer is kept in the forms in which clients take it (options that are clicked, places that are filled,
texts that are typed) and as the line that our own field takes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TypeVar

from engine.answers import answer_type
from engine.answers.asked_precision import NumericSettings
from engine.expressions.values import decimal_text
from engine.model import Part

__all__ = ["SampleAnswer", "sample_answers"]

# subsets and orders beyond this many are drawn at random
MOST = 24
T = TypeVar("T")


@dataclass(frozen=True)
class SampleAnswer:
    """One answer to one field.

    Parameters
    ----------
    what : str
        Why it is tried: ``right``, ``distractor``, ``edge``, ``mistake``, ``spelling``, ``blank``,
        ``malformed``, ``incomplete`` or ``other``.
    text : str
        As our field takes it.
    picked : tuple of str
        Ids of the options that are clicked.
    order : tuple of (str or None)
        Id of the card in each place; None leaves it empty.
    pairs : tuple of (str, str)
        Prompt and target.
    entries : tuple of str
        What is typed in each small field: one for a number or a text, several for a vector or a matrix.
    """

    what: str
    text: str
    picked: tuple[str, ...] = ()
    order: tuple[str | None, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    entries: tuple[str, ...] = ()


def sample_answers(part: Part) -> list[SampleAnswer]:
    """Return at least 40 answers to a field where it has so many, each once."""
    found = {
        "single_choice": _single_choice,
        "multiple_choice": _multiple_choice,
        "ordering": _ordering,
        "matching": _matching,
        "number": _numbers,
        "vector": _numbers,
        "matrix": _numbers,
        "token": _words,
        "free_text": _essay,
    }[part.type](part)
    return list(dict.fromkeys(found))


def _single_choice(part: Part) -> Iterator[SampleAnswer]:
    for option in part.options:
        yield SampleAnswer("right" if option.id in part.key_ids else "distractor", option.id, (option.id,))
    yield SampleAnswer("blank", "")


def _multiple_choice(part: Part) -> Iterator[SampleAnswer]:
    ids = [option.id for option in part.options]
    subsets = [s for size in range(1, len(ids) + 1) for s in itertools.combinations(ids, size)]
    for subset in _some(subsets):
        what = "right" if set(subset) == set(part.key_ids) else "distractor"
        yield SampleAnswer(what, ", ".join(subset), subset)
    yield SampleAnswer("right", ", ".join(part.key_ids), tuple(part.key_ids))
    yield SampleAnswer("blank", "")


def _ordering(part: Part) -> Iterator[SampleAnswer]:
    key = tuple(part.key_ids)
    yield SampleAnswer("right", " ".join(key), order=key)
    for order in _some(list(itertools.permutations(key))):
        yield SampleAnswer("right" if order == key else "distractor", " ".join(order), order=order)
    for left_out in range(len(key)):
        order = tuple(None if place == left_out else card for place, card in enumerate(key))
        yield SampleAnswer("incomplete", " ".join(card for card in order if card), order=order)
    yield SampleAnswer("blank", "")


def _matching(part: Part) -> Iterator[SampleAnswer]:
    prompts, targets = [p.id for p in part.prompts], [t.id for t in part.options]
    right = dict(zip(prompts, part.key_ids, strict=True))
    stream = random.Random(1)

    def answer(what: str, pairs: dict[str, str]) -> SampleAnswer:
        text = ", ".join(f"{prompt}-{target}" for prompt, target in pairs.items())
        return SampleAnswer(what, text, pairs=tuple(pairs.items()))

    yield answer("right", right)
    for prompt in prompts:
        for target in targets:
            if target != right[prompt]:
                yield answer("distractor", {**right, prompt: target})
        yield answer("incomplete", {p: t for p, t in right.items() if p != prompt})
        yield answer("incomplete", {prompt: right[prompt]})
    for _ in range(8):
        yield answer("distractor", {prompt: stream.choice(targets) for prompt in prompts})
    yield SampleAnswer("blank", "")


def _numbers(part: Part) -> Iterator[SampleAnswer]:
    assert part.key is not None
    settings = NumericSettings.of(part)
    right = [decimal_text(value, place) for value, place in zip(part.key.data, settings.places, strict=True)]

    def answer(what: str, entries: Sequence[str]) -> SampleAnswer:
        return SampleAnswer(what, _line(part, entries), entries=tuple(entries))

    def changed(at: int, text: str) -> list[str]:
        return [text if i == at else entry for i, entry in enumerate(right)]

    yield answer("right", right)
    edges = list(zip(settings.lower, settings.upper, strict=True))
    for at, (low, high) in enumerate(edges[:4]):
        for text in _neighbours(low, high):
            yield answer("edge", changed(at, text))
        step = Decimal(1).scaleb(-(settings.places[at] or 0))
        for times in (1, -1, 2, -2, 10):
            yield answer("edge", changed(at, _plain(Decimal(right[at]) + times * step)))
        yield answer("incomplete" if len(right) > 1 else "blank", changed(at, ""))
    for known in part.known_wrong:
        if known.value is not None and known.value.shape == part.key.shape:
            yield answer("mistake", [decimal_text(v, settings.place(v)) for v in known.value.data])
    for text in _spellings(right[0]):
        yield answer("spelling", changed(0, text))
    for text in ("abc", "0.5.1", "--1", "?", "1 2", "NaN", "Infinity", "1e", ".", "-"):
        yield answer("malformed", changed(0, text))
    if len(right) > 1:
        yield answer("distractor", right[::-1])
        yield answer("distractor", ["0"] * len(right))
    for text in ("0", "1", "-1", "1000000", _plain(-Decimal(right[0])), _plain(Decimal(right[0]) * 10)):
        yield answer("distractor", changed(0, text))
    yield SampleAnswer("blank", "", entries=("",) * len(right))
    yield SampleAnswer("blank", "", entries=("  ",) * len(right))


def _line(part: Part, entries: Sequence[str]) -> str:
    """Return entries as our one field takes them: ``;`` between numbers, new lines between rows."""
    assert part.key is not None
    if not any(entry.strip() for entry in entries):
        return ""
    if len(part.key.shape) < 2:
        return "; ".join(entries)
    columns = part.key.shape[1]
    rows = [entries[i : i + columns] for i in range(0, len(entries), columns)]
    return "\n".join("  ".join(entry or "_" for entry in row) for row in rows)


def _plain(value: Decimal) -> str:
    return f"{value:f}"


def _neighbours(low: str, high: str) -> Iterator[str]:
    """Return both bounds, and the numbers a millionth beyond and within them."""
    tiny = Decimal("0.0000001")
    for bound, outwards in ((Decimal(low), -tiny), (Decimal(high), tiny)):
        yield from (_plain(bound), _plain(bound + outwards), _plain(bound - outwards))


def _spellings(text: str) -> Iterator[str]:
    """Return other ways to write a number."""
    value = Decimal(text)
    yield text.replace(".", ",")
    yield text.replace("-", "\u2212")
    yield f"+{text}" if value >= 0 else text
    yield f" {text} "
    yield f"{text}0" if "." in text else f"{text}.0"
    yield text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else f"0{text}"
    yield f"{value:e}"
    yield f"{value:E}"
    fraction = Fraction(value)
    yield f"{fraction.numerator}/{fraction.denominator}"
    yield f"{_plain(value * 100)}%"
    yield f"{_plain(value * 100)} %"
    yield f"\\({text}\\)"
    yield f"x = {text}"
    yield f"\u2248 {text}"
    yield f"{text}."
    yield f"1*{text}"


def _words(part: Part) -> Iterator[SampleAnswer]:
    def answer(what: str, text: str) -> SampleAnswer:
        return SampleAnswer(what, text, entries=(text,))

    for text in part.key_ids:
        yield answer("right", text)
    for text in answer_type(part.type).right_responses(part):
        yield answer("spelling", text)
    for known in part.known_wrong:
        if known.text is not None:
            yield answer("mistake", known.text)
            yield answer("spelling", known.text.lower())
    first = part.key_ids[0]
    for text in (first[::-1], f"{first} {first}", first[:-1] or "Z", f"{first}x", "0", "?", "<eos>"):
        yield answer("distractor", text)
    letters = sorted({sign for sign in first if sign.isalpha()})
    for picked in _some(list(itertools.product(letters or ["A"], repeat=min(len(letters) + 1, 4)))):
        yield answer("distractor", " ".join(picked))
    yield SampleAnswer("blank", "", entries=("",))
    yield SampleAnswer("blank", "", entries=("   ",))


def _essay(part: Part) -> Iterator[SampleAnswer]:
    yield SampleAnswer(
        "other", "Softmax turns scores into weights.", entries=("Softmax turns scores into weights.",)
    )
    yield SampleAnswer("blank", "", entries=("",))


def _some(values: list[T]) -> list[T]:
    return values if len(values) <= MOST else random.Random(len(values)).sample(values, MOST)
