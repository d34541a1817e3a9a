"""Letters of options as people type them: ``a, c``, ``(a) (c)``, ``ac``, ``A and C``, ``c > a > b``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engine.answers.reading.numeral import format_error, normal_signs
from engine.plurals import counted

__all__ = ["MAX_TEXT", "read_labels", "read_pairs", "read_texts", "same_words"]

MAX_TEXT = 1_000  # 26 letters, however they are set apart

_SEPARATORS = re.compile(r"(?:[\s,;/&+>|→⟶⇒➔]|(?<![-=])[-=]++>|\b(?:and|und|then)\b)+", re.IGNORECASE)
_DASHED = re.compile(r"(?<=[A-Za-z)])\s*-\s*(?=[A-Za-z(])")
_LEAD = re.compile(
    r"(?:(?:the|my|only)\s+)?(?:(?:right|correct|final)\s+)?"
    r"(?:answers?|options?|choices?|antwort(?:en)?|réponses?)(?:\s+(?:is|are|ist|sind))?"
    r"(?:\s*[:=]\s*|\s+)(?=\S)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\(?([A-Za-z])[).:]?")
_BULLET = re.compile(r"(?m)^[ \t]*[-*•][ \t]+(?=\S)")
# Quotation marks, and what Markdown and LaTeX put around a letter; no letter stands for another one by them.
_WRAPPING = re.compile("[\"'`´‘’“”„«»*$]|\\\\[()]")
# Letters of other alphabets that look the same. Those that only sound the same could be meant by their place.
_LOOKALIKES = str.maketrans("аАВсСеЕαΑΒΕ", "aABcCeEaABE")
_BEFORE_TEXT = re.compile(r"(?:[\s,;|•*–—-]|[\"'“”„«»]|\[[xX✓]\]|[✓✔☑]|\b(?:and|und)\b)*+", re.IGNORECASE)
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
    wanted = sorted(
        ((same_words(shown), label) for label, shown in options.items()), key=lambda o: -len(o[0])
    )
    if len({words for words, _ in wanted}) < len(wanted) or not all(words for words, _ in wanted):
        return None
    body = "\n".join(
        " ".join(line.split()) for line in normal_signs(text).replace("’", "'").strip().split("\n")
    )
    # Lines of an option's text can be broken elsewhere, so places are those of one long line.
    flat = body.replace("\n", " ").casefold()
    if len(flat) != len(body):
        return None
    wanted = [(normal_signs(words), label) for words, label in wanted]
    found: list[str] = []
    at = _end_of(_BEFORE_TEXT, body, 0)
    while at < len(body):
        claimed = None
        begin = at
        if not any(flat.startswith(words, at) for words, _ in wanted):
            begin = _end_of(_NUMBERING, body, begin)
            own = _OWN_LABEL.match(body, begin) or _LETTER_LINE.match(body, begin)
            if own is not None:
                claimed, begin = own[1].lower(), own.end()
            begin = _end_of(_BEFORE_TEXT, body, begin)
        label = next((label for words, label in wanted if flat.startswith(words, begin)), None)
        if label is None:
            return None
        if claimed is not None and claimed != label:
            raise format_error(
                f"({claimed}) isn't the letter of the text behind it, which is that of ({label})", text[:200]
            )
        found.append(label)
        words = next(words for words, other in wanted if other == label)
        end = _AFTER_TEXT.match(body, begin + len(words))
        assert end is not None
        if end.end() == begin + len(words) < len(body):
            return None
        at = _end_of(_BEFORE_TEXT, body, end.end())
    return found or None


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


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def read_labels(text: str, labels: Sequence[str], what: str, *, in_order: bool = False) -> list[str]:
    """Return the letters in the order typed, repetitions kept.

    Parameters
    ----------
    text : str
        As typed; not blank.
    labels : sequence of str
        The letters that exist.
    what : str
        What the letters stand for, e.g. ``"options"``.
    in_order : bool
        Whether an order is asked for: then ``c-a-b`` is one, while ``a-c`` could mean "a to c" elsewhere.

    Raises
    ------
    ResponseFormatError
        Something is no letter, or none of these.
    """
    expected = f"letters from {labels[0]} to {labels[-1]}"
    if len(text) > MAX_TEXT:
        raise format_error(
            f"the answer has {counted(len(text), 'character')}; at most {MAX_TEXT} are read", text[:60]
        )
    body = _WRAPPING.sub(" ", _BULLET.sub(" ", normal_signs(text).translate(_LOOKALIKES))).strip()
    lead = _LEAD.match(body)
    body = body if lead is None else body[lead.end() :]
    if in_order:
        body = _DASHED.sub(" ", body)
    if body[:1] + body[-1:] in ("[]", "{}") or re.fullmatch(r"\([^()]*\)", body):
        body = body[1:-1]
    found: list[str] = []
    for token in filter(None, _SEPARATORS.split(body)):
        found += _letters(token, labels, text, expected)
    if not found:
        raise format_error(
            f"there is no letter in it; the {what} are {labels[0]} to {labels[-1]}", text, expected
        )
    unknown = [label for label in found if label not in labels]
    if unknown:
        raise format_error(f"there is no {unknown[0]} among the {what}", text, expected)
    return found


def _letters(token: str, labels: Sequence[str], text: str, expected: str) -> list[str]:
    single = _LABEL.fullmatch(token)
    if single is not None:
        return [single[1].lower()]
    glued = re.findall(r"\(([A-Za-z])\)", token)
    if glued and "".join(f"({letter})" for letter in glued) == token:
        return [letter.lower() for letter in glued]
    letters = list(token.lower())
    if all(letter in labels for letter in letters):
        return letters
    raise format_error("this isn't read as letters", text, expected)
