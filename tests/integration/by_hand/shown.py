"""What the letters of a stem stand for, so that their numbers can be read as a student reads them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from engine.model import Variant
from tests.integration.by_hand.drawing import Numbers
from tests.integration.by_hand.entering import flat

__all__ = ["LETTERS", "TABLES", "drawn", "read_letter", "read_table"]

_STATES = {f"h{digit}": f"H.{i}" for i, digit in enumerate("₁₂₃")}
_RAISED = {f"h⁽{digit}⁾": f"H.{i}" for i, digit in enumerate("¹²³")}
_ALIGNMENT = {"W₁": "W1", "W₂": "W2", "h⁽ᵗ′⁾": "h", "s⁽ᵗ⁻¹⁾": "s"}
_SCORE = {"W₁": "W_h", "W₂": "W_s", "v": "v", "H": "H", "s⁽ᵗ⁻¹⁾": "s"}
_CELL = {"Wₓ": "Wx", "Wₛ": "Ws", "y⁽ᵗ⁻¹⁾": "y"}

# item -> letter in the stem or a prompt -> drawn value, or its row or entry (from 0)
LETTERS: dict[str, dict[str, str]] = {
    "additive-all-positions": _STATES | {"sₜ₋₁": "s", "W": "W", "U": "U", "v": "v"},
    "additive-score": {"W": "W", "U": "U", "v": "v", "sₜ₋₁": "s", "hⱼ": "h"},
    "bilinear-score": {"q": "q", "k": "k", "W": "W"},
    "causal-self-attention": {"X": "X"},
    "concat-equals-two-matrices": {"W₁": "W1", "q": "q", "k": "k"},
    "context-bounds": _RAISED,
    "context-inverse": {"h⁽¹⁾": "h1", "h⁽²⁾": "h2"},
    "context-lost-index": _STATES,
    "context-vector": {"h⁽¹⁾": "H.0", "h⁽²⁾": "H.1", "α": "w"},
    "decoder-full-step": _SCORE | _CELL | {"W_y": "Wy"},
    "decoder-output": {"s⁽ᵗ⁻¹⁾": "s_old", "s⁽ᵗ⁾": "s_new", "W_y": "Wy"},
    "decoder-state": _CELL | {"s⁽ᵗ⁻¹⁾": "s", "c⁽ᵗ⁾": "c"},
    "dot-scores": _STATES | {"sₜ": "s"},
    "full-attention-pass": _STATES | {"sₜ": "s"},
    "l16-alignment-vector": _ALIGNMENT,
    "l16-ex1-context-vector": {"h⁽¹⁾": "H.0", "h⁽²⁾": "H.1", "α^(t,1)": "w.0", "α^(t,2)": "w.1"},
    "l16-ex3-softmax-weights": {f"α̂^(t,{j})": f"e.{j - 1}" for j in (1, 2, 3)},
    "l16-ex5-alignment-vector": _ALIGNMENT,
    "l16-full-pass": _SCORE,
    "limiting-cases": {"v₁": "V.0", "v₂": "V.1", "v₃": "V.2"},
    "multi-head-output": {"q": "q", "K": "K", "V": "V", "W_O": "Wo"},
    "rnn-step-value": {"W": "W", "U": "U", "h₁": "h", "x₂": "x"},
    "scale-symbol": {"k": "k"},
    "scaled-dot-score": {"q": "q", "k": "k"},
    "sdpa-matrix": {"Q": "Q", "K": "K", "V": "V"},
    "sdpa-output": {"q": "q", "K": "K", "V": "V"},
    "self-attention-weights": {"X": "X"},
    "softmax-inverse": {"αₜ₁": "w.0", "αₜ₂": "w.1", "αₜ₃": "w.2"},
    "softmax-ratio": {"eₜ₁": "e.0", "eₜ₂": "e.1", "eₜ₃": "e.2", "eₜ₄": "e.3"},
    "softmax-weights": {f"α̂^(t,{j})": f"e.{j - 1}" for j in (1, 2, 3)},
    "value-transform": {"H": "H", "w": "w", "W_V": "M"},
}

# items whose stem shows a table of numbers, and how many columns of numbers it has
TABLES: dict[str, int] = {
    "alignment-many-to-one": 5,
    "alignment-not-monotone": 5,
    "alignment-orientation": 4,
    "alignment-read": 5,
    "beam-not-optimal": 3,
    "beam-survivors": 3,
    "beam-vs-greedy-sequence": 3,
    "beam-worse-than-greedy": 3,
    "greedy-path": 3,
}

_VALUE = r"(\[\[.*?\]\]|\[.*?\]|-?\d+(?:\.\d+)?)"


def text_of(variant: Variant) -> str:
    """All that a student reads before the options, minus signs typed plainly."""
    texts = [variant.stem, *(part.prompt for part in variant.parts if part.prompt)]
    return "\n".join(text.plain for text in texts).replace("−", "-")


def drawn(x: Numbers, name: str) -> list[float]:
    """Return a drawn value's numbers; ``H.0`` is row 0 of H, ``e.0`` entry 0 of e."""
    word, _, index = name.partition(".")
    value: Any = x[word]
    return flat(value[int(index)] if index else value)


def numbers_in(text: str) -> list[float]:
    return [float(Fraction(n)) for n in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?", text)]


def read_letter(variant: Variant, letter: str) -> list[float]:
    """Return the numbers that the stem gives a letter: all that stands behind "letter =" or "letter ="."""
    hits = re.findall(rf"(?<![\w⁽ᵀ(]){re.escape(letter)} = {_VALUE}", text_of(variant))
    assert len(hits) == 1, f"{letter} is given {len(hits)} values"
    return numbers_in(hits[0])


def read_table(variant: Variant, columns: int) -> list[list[float]]:
    """Return the rows of the stem's table: the lines that end with so many decimal fractions."""
    rows = [re.findall(r"\d+\.\d+", line) for line in text_of(variant).splitlines() if " is " not in line]
    return [[float(Fraction(n)) for n in row] for row in rows if len(row) == columns]
