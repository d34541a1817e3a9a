"""What goes into a sentence: counts with their nouns, points, lists, near words, and foreign text made safe.

Every sentence of the program that names one of them is made here, so that none says "1 items", none rounds
a mark differently from another, and a misspelt name gets the same kind of suggestion everywhere. A test of
the repository looks for counts that are written otherwise.

What students or files bring into a sentence is never markup: control characters and direction overrides are
made visible or dropped, and length is cut (:func:`clean`, :func:`clean_line`, :func:`one_line`).
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

_COMPARED = 100  # characters of a word: difflib's time grows with the product of two lengths
_SIMILAR = 0.65  # by its usual 0.6, "value" would be like "false"

# What XML 1.0 has no way to write, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IRREGULAR = {"person": "people", "child": "children"}
_VERBS = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}
# After these an s alone couldn't be spoken.
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
    digits = format(number, spec or ("g" if isinstance(number, float) else ""))
    # what is rounded to 1 reads as 1
    return f"{digits} {noun if digits == '1' else plural(noun)}"


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


def points_text(value: float) -> str:
    """Return ``1 point``, ``0.33 points``."""
    return count_noun(str(plain_points(value)), "point")


def percent(share: float | Fraction, decimals: int = 1) -> str:
    """Return a share of 1 as a percentage with its sign: ``70 %``, ``33.3 %``."""
    return f"{plain_points(100 * float(share), decimals)} %"


def rough_time(seconds: float) -> str:
    """Return how long something is in one unit: ``90 s``, ``3 min``, ``4 h``, ``2 days``."""
    # Up to two of a unit the smaller one says more: 90 s, and not 1 min.
    for unit, size in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def join_words(words: Iterable[str], last: str = "and", limit: int | None = None) -> str:
    """Return ``a, b and c``; where there are more words than `limit`, the first ones and an ellipsis.

    Parameters
    ----------
    words : iterable of str
    last : str
        The word before the last one.
    limit : int, optional

    Examples
    --------
    >>> join_words(["a", "b", "c"], "or"), join_words("abcd", limit=2)
    ('a, b or c', 'a, b …')
    """
    some = list(words)
    if limit is not None and len(some) > limit:
        return ", ".join(some[:limit]) + " …"
    return f" {last} ".join(part for part in (", ".join(some[:-1]), *some[-1:]) if part)


def as_sentence(text: str) -> str:
    """Return a message as a sentence: with a capital letter and, unless it has an end, a full stop.

    Examples
    --------
    >>> as_sentence("the disk is full"), as_sentence("did you mean ada?")
    ('The disk is full.', 'Did you mean ada?')
    """
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."


def near_words(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Return the known words most like an unknown one, the nearest first; upper and lower case are alike.

    Parameters
    ----------
    word : str
    known : iterable of str
    count : int
        How many at most.

    Examples
    --------
    >>> near_words("sofmax", ["softmax", "sigmoid"]), near_words("Xyz", ["softmax"])
    (['softmax'], [])
    """
    import difflib  # only a mistyped name needs it

    by_fold: dict[str, str] = {}
    for candidate in known:
        # of two names that differ only in case, such as x and X, the first is suggested
        by_fold.setdefault(candidate[:_COMPARED].casefold(), candidate)
    near = difflib.get_close_matches(word[:_COMPARED].casefold(), by_fold, n=count, cutoff=_SIMILAR)
    return [by_fold[folded] for folded in near]


def suggestion(word: str, known: Iterable[str]) -> str | None:
    """Return ``did you mean x?``, a message's next step, for the nearest known word; None if none is near."""
    near = near_words(word, known)
    return f"did you mean {near[0]}?" if near else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """Return ``; did you mean 'x'?``, which ends a sentence, for the nearest known word, else `otherwise`.

    Parameters
    ----------
    word : str
    known : iterable of str
    otherwise : str
        What ends the sentence where no word is near.

    Examples
    --------
    >>> "unknown key 'topcs'" + did_you_mean("topcs", ["topics", "title"])
    "unknown key 'topcs'; did you mean 'topics'?"
    """
    near = near_words(word, known)
    return f"; did you mean '{near[0]}'?" if near else otherwise


# Bidirectional controls, zero-width characters and line separators can make text read as something else.
_HIDDEN = {
    0x00AD,
    0x2028,
    0x2029,
    0xFEFF,
    *range(0x200B, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x2070),
}


def visible(text: str) -> str:
    r"""Return `text` with nothing in it that hides, turns or steers, character for character.

    Newlines and tabs stay; every other control, format, surrogate or private-use
    character becomes ``\N{REPLACEMENT CHARACTER}``, so places in the text stay where they are.
    """
    if text.isprintable():
        return text
    # asked of each different character once: a long text has few of them
    steering = {ord(c): "\ufffd" for c in set(text) if c not in "\n\t" and _steers(c)}
    return text.translate(steering) if steering else text


def _steers(character: str) -> bool:
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Co"} or ord(character) in _HIDDEN


def clean(text: str, limit: int = 2000) -> str:
    """Return `text` as :func:`visible` gives it, cut to `limit` characters and saying so."""
    cleaned = visible(text[:limit])
    if len(text) > limit:
        cleaned += f" … ({count_noun(len(text) - limit, 'more character')})"
    return cleaned


def clean_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned and on one line."""
    return " ".join(clean(text, limit).split())


def one_line(text: str, limit: int = 60) -> str:
    """Return foreign text fit for one line of a message: blanks stay, line ends show, cut to ``limit``."""
    text = visible(text[: limit + 1]).replace("\n", "\ufffd")
    return text if len(text) <= limit else text[: limit - 1] + "…"


# In text mode < and > come out as inverted question marks in TeX's old font encoding.
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it stands."""
    return "".join(_LATEX.get(character, character) for character in text)


def xml_characters(text: str) -> str:
    """Return a text without what XML can't hold."""
    return _NOT_XML.sub("", text)


def typst_string(text: str) -> str:
    """Return a text as a string of Typst: it is shown as it stands, and nothing in it is markup."""
    return '"' + "".join([_typst_character(character) for character in text]) + '"'


def _typst_character(character: str) -> str:
    if character in _TYPST:
        return _TYPST[character]
    if character.isprintable():
        return character
    # Nothing a font has no sign for, or that turns the writing of what follows, gets into a class's exams.
    # Joiners and marks of direction stay: Persian names and some emoji are made with them.
    category = unicodedata.category(character)
    if category in ("Cn", "Co", "Cs"):
        return "\ufffd"
    return character if category == "Cf" and character not in _TURNING else " "


_TYPST = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def shell_word(file: object) -> str:
    """Return a path or word as a shell takes it."""
    text = str(file)
    # A name that begins with a hyphen would be taken for an option.
    return shlex.quote(f"./{text}" if text.startswith("-") else text)
