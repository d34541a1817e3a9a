"""Counts in sentences: ``1 item``, ``3 items``, and the verb that goes with either.

Every sentence that names a count is made with these two functions, so that none says "1 items" or
"1 of 3 entries are right"; a test of the repository looks for counts that are written otherwise.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

__all__ = ["agree", "all_of", "count_noun", "plain_points", "plural"]

_IRREGULAR = {"person": "people", "child": "children"}
_VERBS = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
_HISSING = ("s", "x", "z", "ch", "sh")


def plural(noun: str) -> str:
    """Return the plural of a noun, or of the last word of several.

    >>> plural("entry"), plural("quiz"), plural("hypothesis"), plural("right option")
    ('entries', 'quizzes', 'hypotheses', 'right options')
    """
    before, blank, word = noun.rpartition(" ")
    if word in _IRREGULAR:
        several = _IRREGULAR[word]
    elif word.endswith("sis"):
        several = word[:-2] + "es"
    elif word.endswith("quiz"):
        several = word + "zes"
    elif word.endswith(_HISSING):
        several = word + "es"
    elif word.endswith("y") and word[-2:-1] not in "aeiou":
        several = word[:-1] + "ies"
    else:
        several = word + "s"
    return f"{before}{blank}{several}"


def count_noun(number: float | Decimal | str, noun: str, spec: str = "") -> str:
    """Return a number with its noun, which is in the plural unless the number is 1.

    Parameters
    ----------
    number : int, float, Decimal, or str
        A text is a number that is written already.
    noun : str
        In the singular, adjectives before it: ``"right option"``.
    spec : str
        How the number is written; a float is written without trailing zeros otherwise.
    """
    shown = format(number, spec or ("g" if isinstance(number, float) else ""))
    # what is rounded to 1 reads as 1
    return f"{shown} {noun if shown == '1' else plural(noun)}"


def agree(number: float | Decimal, verb: str) -> str:
    """Return a verb that fits a number of things.

    Parameters
    ----------
    number : int, float or Decimal
    verb : str
        As it stands after several: ``"are"``, ``"have"``, ``"don't"``, ``"miss"``.

    >>> [agree(1, verb) for verb in ("are", "aren't", "don't", "need", "miss")]
    ['is', "isn't", "doesn't", 'needs', 'misses']
    """
    if number != 1:
        return verb
    stem = verb.removesuffix("n't")
    if stem in _VERBS:
        return _VERBS[stem] + verb[len(stem) :]
    return verb + ("es" if verb.endswith(_HISSING) else "s")


def all_of(number: int, noun: str) -> str:
    """Return ``the only student``, ``both students``, ``all 3 students``; the verb is :func:`agree`'s."""
    return {1: f"the only {noun}", 2: f"both {plural(noun)}"}.get(number, f"all {count_noun(number, noun)}")


def plain_points(value: float, decimals: int = 2) -> float | int:
    """Return points as they are shown: at most two decimals, halves away from zero, whole ones without any.

    This is the one rounding of marks. The store keeps them as they were earned (six decimals); pages, tables,
    gradebooks, files and terminals all show what this function makes of them, so that a student never sees
    one number and the learning system another. ``policies: round`` rounds the marks themselves with it.

    Parameters
    ----------
    value : float
    decimals : int
        From 0 to 6.

    Examples
    --------
    >>> plain_points(0.525), plain_points(2 / 3), plain_points(34.025), plain_points(3.0)
    (0.53, 0.67, 34.03, 3)
    """
    # nine decimals first: 0.1 + 0.425 is 0.525 to whoever reads it, though the sum's binary digits lie below
    exact = Decimal(repr(round(value, 9)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return int(rounded) if rounded == rounded.to_integral_value() else float(rounded)
