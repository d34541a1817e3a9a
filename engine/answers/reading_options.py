"""Options as people type them: letters (``a, c``, ``(a) (c)``, ``A and C``, ``c > a > b``), texts, pairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from engine.answers.typed_text import format_error, normal_signs
from engine.text.words import count_noun

MAX_LABELS = 1_000  # more than 26 letters need, however they are set apart

_LABEL_SEPARATORS = re.compile(r"(?:[\s,;/&+>|→⟶⇒➔]|(?<![-=])[-=]++>|\b(?:and|und|then)\b)+", re.IGNORECASE)
# In an order "c-a-b" a hyphen is an arrow; elsewhere "a-c" could mean "a to c" and is refused.
_DASHED = re.compile(r"(?<=[A-Za-z)])\s*-\s*(?=[A-Za-z(])")
# "The answer is", "my final choice:", also in German and French, as our students write it.
_LEAD = re.compile(
    r"(?:(?:the|my|only)\s+)?(?:(?:right|correct|final)\s+)?"
    r"(?:answers?|options?|choices?|antwort(?:en)?|réponses?)(?:\s+(?:is|are|ist|sind))?"
    r"(?:\s*[:=]\s*|\s+)(?=\S)",
    re.IGNORECASE,
)
# What most people type: "a, c", "a c" or one letter.
_USUAL_LETTERS = re.compile(r"[A-Za-z](?:(?:, ?| )[A-Za-z])*+")
_OPTION_LABEL = re.compile(r"\(?([A-Za-z])[).:]?")
_BULLET = re.compile(r"(?m)^[ \t]*[-*•][ \t]+(?=\S)")
# Quotation marks, and what Markdown and LaTeX put around a letter; no letter stands for another one by them.
_WRAPPING = re.compile("[\"'`´‘’“”„«»*$]|\\\\[()]")
# Letters of other alphabets that look the same. Those that only sound the same could be meant by their place.
_LOOKALIKES = str.maketrans("аАВсСеЕαΑΒΕ", "aABcCeEaABE")
_BEFORE_TEXT = re.compile(r"(?:[\s,;|•*–—-]|[\"'“”„«»]|\[[xX✓]\]|[✓✔☑]|\b(?:and|und)\b)*+", re.IGNORECASE)
# "c) text", "(c) text", "c - text", or the letter on a line of its own: the text after it must agree.
_OWN_LABEL = re.compile(r"\(?\s*([A-Za-z])\s*(?:[).:=]|\s[-–—]|(?<=\n))\s*")
_LETTER_LINE = re.compile(r"([A-Za-z])\n")
_NUMBERING = re.compile(r"[0-9]{1,2}\s*[.):]\s*")
_AFTER_TEXT = re.compile(r"[.\s\"'“”«»]*+(?:[,;|\n]|$|\b(?:and|und)\b)?", re.IGNORECASE)


def same_words(text: str) -> str:
    """Return text as it compares: without case, doubled blanks, quotation marks, full stop at the end."""
    words = " ".join(text.replace("’", "'").replace("‘", "'").split()).casefold()
    while len(words) > 2 and words[0] + words[-1] in ('""', "''", "“”", "„“", "«»", "``"):
        words = words[1:-1].strip()
    return words.rstrip(".")


# A class answers the same few questions again and again: their texts are made comparable once.
words_of_option = lru_cache(maxsize=4096)(same_words)


@lru_cache(maxsize=4096)
def _flat_words(plain: str) -> str:
    """Return an option's text as it is looked for in an answer."""
    return normal_signs(words_of_option(plain))


def read_texts(text: str, options: Mapping[str, str]) -> list[str] | None:
    """Return the options whose texts were typed, in the order typed; None if there is anything else in it.

    Forms give the texts of what was chosen, one after the other. Letters and numbers of a list before a text
    are passed over.

    Parameters
    ----------
    text : str
        As typed.
    options : mapping of str to str
        Letter → the option's text.

    Raises
    ------
    ResponseFormatError
        A letter stands before another option's text.
    """
    body = "\n".join(
        " ".join(line.split()) for line in normal_signs(text).replace("’", "'").strip().split("\n")
    )
    # Lines of an option's text can be broken elsewhere, so places are those of one long line.
    flat = body.replace("\n", " ").casefold()
    if len(flat) != len(body):  # case folding made a letter longer (ß), so that places don't agree
        return None
    texts = [(words, label) for label, plain in options.items() if (words := _flat_words(plain)) in flat]
    if not texts:  # most people type letters
        return None
    words_of = {label: words_of_option(plain) for label, plain in options.items()}
    if len(set(words_of.values())) < len(options) or not all(words_of.values()):
        return None
    # The longest first: one option's text may begin with another's.
    texts.sort(key=lambda pair: -len(words_of[pair[1]]))
    labels: list[str] = []
    start = _end_of(_BEFORE_TEXT, body, 0)
    while start < len(body):
        claimed = None
        if not any(flat.startswith(words, start) for words, _ in texts):
            start = _end_of(_NUMBERING, body, start)
            letter = _OWN_LABEL.match(body, start) or _LETTER_LINE.match(body, start)
            if letter is not None:
                claimed, start = letter[1].lower(), letter.end()
            start = _end_of(_BEFORE_TEXT, body, start)
        match = next(((words, label) for words, label in texts if flat.startswith(words, start)), None)
        if match is None:
            return None
        words, label = match
        if claimed is not None and claimed != label:
            raise format_error(
                f"({claimed}) isn't the letter of the text after it, which is that of ({label})", text[:200]
            )
        labels.append(label)
        end = start + len(words)
        after = _end_of(_AFTER_TEXT, body, end)
        if after == end < len(body):  # the text goes on: it was the beginning of a longer one
            return None
        start = _end_of(_BEFORE_TEXT, body, after)
    return labels or None


# Numbers, letters and anything that is neither and no separator: the last makes the text unreadable as pairs.
_PAIR_SIGNS = re.compile(r"[0-9]{1,3}|[A-Za-z]+|[^\s\-:=.,;>→⟶⇒➔|_()\[\]{}/&\"'`‘’“”*]")
_PAIR_WORDS = frozenset({"and", "und"})
_BEFORE_NUMBER = re.compile(r"\b(?:q|nr|no)\.?+[ ]?(?=[0-9])", re.IGNORECASE)


def read_pairs(text: str) -> list[tuple[str, str]]:
    """Return pairs of a number and a letter, whichever stands first: ``1-c``, ``{'1': 'c'}``, ``c1``.

    Raises
    ------
    ResponseFormatError
        Numbers and letters don't take turns, or there is something else in it.
    """
    plain = _BEFORE_NUMBER.sub("", normal_signs(text).translate(_LOOKALIKES))
    signs = [sign.lower() for sign in _PAIR_SIGNS.findall(plain)]
    signs = [sign for sign in signs if sign not in _PAIR_WORDS]
    if len(signs) % 2 == 0 and signs:
        first, second = signs[::2], signs[1::2]
        if first[0].isalpha():
            first, second = second, first
        if all("0" <= n[0] <= "9" for n in first) and all(len(x) == 1 and x.isalpha() for x in second):
            return [(str(int(number)), letter) for number, letter in zip(first, second, strict=True)]
    raise format_error("this isn't read as pairs", text)


def _end_of(pattern: re.Pattern[str], text: str, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()


def read_labels(text: str, labels: Sequence[str], noun: str, *, in_order: bool = False) -> list[str]:
    """Return the letters in the order typed, repetitions kept.

    Parameters
    ----------
    text : str
        As typed; not blank.
    labels : sequence of str
        The letters that exist.
    noun : str
        What the letters stand for, e.g. ``"options"``.
    in_order : bool
        Whether an order is asked for: then ``c-a-b`` is one, while ``a-c`` could mean "a to c" elsewhere.

    Raises
    ------
    ResponseFormatError
        Something isn't a letter, or none of these.
    """
    expected = f"letters from {labels[0]} to {labels[-1]}"
    if len(text) > MAX_LABELS:
        raise format_error(
            f"the answer has {count_noun(len(text), 'character')}; at most {MAX_LABELS} are read", text[:60]
        )
    if _USUAL_LETTERS.fullmatch(text):
        typed = text.lower().replace(",", " ").split()
    else:
        typed = _typed_letters(text, labels, expected, in_order=in_order)
    if not typed:
        raise format_error(
            f"there is no letter in it; the {noun} are {labels[0]} to {labels[-1]}", text, expected
        )
    unknown = [label for label in typed if label not in labels]
    if unknown:
        raise format_error(f"there is no {unknown[0]} among the {noun}", text, expected)
    return typed


def _typed_letters(text: str, labels: Sequence[str], expected: str, *, in_order: bool) -> list[str]:
    """Return the letters of an answer in whichever way they were typed."""
    body = _WRAPPING.sub(" ", _BULLET.sub(" ", normal_signs(text).translate(_LOOKALIKES))).strip()
    lead = _LEAD.match(body)
    body = body if lead is None else body[lead.end() :]
    if in_order:
        body = _DASHED.sub(" ", body)
    # Brackets around all letters say nothing; those around each one are read letter by letter.
    if body[:1] + body[-1:] in ("[]", "{}") or re.fullmatch(r"\([^()]*\)", body):
        body = body[1:-1]
    typed: list[str] = []
    for token in filter(None, _LABEL_SEPARATORS.split(body)):
        typed += _letters(token, labels, text, expected)
    return typed


def _letters(token: str, labels: Sequence[str], text: str, expected: str) -> list[str]:
    single = _OPTION_LABEL.fullmatch(token)
    if single is not None:
        return [single[1].lower()]
    glued = re.findall(r"\(([A-Za-z])\)", token)
    if glued and "".join(f"({letter})" for letter in glued) == token:
        return [letter.lower() for letter in glued]
    letters = list(token.lower())
    if all(letter in labels for letter in letters):
        return letters
    raise format_error("this isn't read as letters", text, expected)
