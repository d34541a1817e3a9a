"""One number as people type it, as an exact fraction; or why it isn't one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from engine.errors import ResponseFormatError
from engine.text.escape import clean_line
from engine.text.words import count_noun

__all__ = [
    "MAX_LABELS",
    "MAX_NUMERAL",
    "MAX_TEXT",
    "NumberRows",
    "decided",
    "format_error",
    "normal_signs",
    "pointed_thousands",
    "read_labels",
    "read_numbers",
    "read_numeral",
    "read_pairs",
    "read_texts",
    "same_words",
    "ungrouped",
    "without_asides",
    "without_count_word",
]

MAX_NUMERAL = 60
_MAX_EXPONENT = 308

_DECIMAL = r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_PLAIN = re.compile(_DECIMAL)
_QUOTIENT = re.compile(rf"({_DECIMAL})/({_DECIMAL})")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")
# Signs that editors, keyboards and typesetters put in the place of those of ASCII. Dashes: all of Unicode but
# the wavy ones, which mean "about" or "to".
_WAVY = "\u301c\u3030\u30a0\u2e1a\u2e17\u2e40\u2e5d"
_DASHES = "".join(
    sign
    for code in (*range(0x20, 0x3100), *range(0xFE00, 0x10000), 0x10D6E, 0x10EAD)
    if unicodedata.category(sign := chr(code)) == "Pd" and sign not in _WAVY
)
_MINUS = _DASHES + "\u2212\u02d7\u2796\u2043\u30fc\uff70"
_PLUS = "\ufe62\u2795\ufb29"
# marks without width that come along with what is copied from a page: soft hyphen, joiners, directions, BOM
_UNSEEN = (0xAD, 0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x2060, 0xFEFF)
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_SIGNS = (
    _FULL_WIDTH
    | {ord(sign): "-" for sign in _MINUS}
    | {ord(sign): "+" for sign in _PLUS}
    | dict.fromkeys(_UNSEEN, "")
    | {0x2044: "/", 0x2215: "/", 0x3001: ",", 0xFF64: ",", 0x3002: "."}
)
_RAISED_MINUS = re.compile(r"(?<![0-9])[\u207b\u208b](?=[0-9.])")
_RAISED_PLUS = re.compile(r"(?<![0-9])[\u207a\u208a](?=[0-9.])")
_SUPER = re.compile(r"[×x*·]\s*10\s*(?:\^|\*\*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])")


def format_error(what: str, got: str, expected: str | None = None) -> ResponseFormatError:
    """Return the error for what can't be read; `got` is foreign text."""
    return ResponseFormatError(
        what,
        expected=expected,
        got=clean_line(got, 80) or "nothing",
        next_step="type it again; this costs no attempt",
    )


def normal_signs(text: str) -> str:
    """Return text with signs and digits as on the keyboard: minus, plus, full-width forms, blanks."""
    dashed = _RAISED_PLUS.sub("+", _RAISED_MINUS.sub("-", text.translate(_SIGNS)))
    return "".join(
        " " if c.isspace() and c != "\n" else c for c in dashed.replace("\r\n", "\n").replace("\r", "\n")
    )


def read_numeral(token: str) -> Fraction:
    """Return the exact value of one number.

    Parameters
    ----------
    token : str
        Such as ``0.5``, ``.5``, ``-2``, ``1/3``, ``5e-1``; signs already normal, no blanks.

    Raises
    ------
    ResponseFormatError
        It isn't a number of this kind; the message says what it looks like.
    """
    if len(token) > MAX_NUMERAL:
        raise format_error(f"a number may have at most {MAX_NUMERAL} characters", token)
    if _PLAIN.fullmatch(token):
        return _value(token)
    if (quotient := _QUOTIENT.fullmatch(token)) is not None:
        below = _value(quotient[2])
        if below == 0:
            raise format_error("a fraction can't have 0 below its bar", token)
        return _value(quotient[1]) / below
    raise format_error(_complaint(token), token, expected="a number such as 0.25, -1.5, 1/3 or 5e-1")


def _value(token: str) -> Fraction:
    exponent = _EXPONENT.search(token)
    if exponent is None:  # so short a token stays far below the bound
        return Fraction(Decimal(token))
    if abs(int(exponent[1])) > _MAX_EXPONENT:
        raise format_error(f"exponents go from -{_MAX_EXPONENT} to {_MAX_EXPONENT}", token)
    value = Fraction(Decimal(token))
    if abs(value) >= 10**_MAX_EXPONENT:
        raise format_error(f"the number is beyond 1e{_MAX_EXPONENT}", token)
    return value


def _complaint(token: str) -> str:
    bare = token.strip("+-").casefold()
    if bare in ("nan", "inf", "infinity", "∞", "none", "null", "true", "false"):
        return f"{clean_line(token, 20)} is no number"
    if any(c.isnumeric() and not "0" <= c <= "9" for c in token):
        return _foreign_digits(token)
    if bare.startswith("0x"):
        return "hexadecimal numbers aren't read"
    if "_" in token:
        return "digits aren't grouped by underscores here"
    if "%" in token or "‰" in token:
        return "percentages aren't read; type 0.5 for 50 %"
    if "," in token:
        return "a comma separates entries here; type a point as the decimal mark"
    if _SUPER.search(token):
        return "powers of ten are typed like 5e-1"
    if token.count(".") > 1:
        return "a number has one decimal point at most"
    if re.search(r"[0-9)][*^+/(-]|[a-zA-Z]\(|√", token):
        return "expressions aren't computed here; type the number"
    if re.search(r"[^\W\d_]", token):
        return "letters aren't part of a number"
    return "this isn't a number"


def _foreign_digits(token: str) -> str:
    usual = unicodedata.normalize("NFKC", token)
    if _PLAIN.fullmatch(usual) or _QUOTIENT.fullmatch(usual.replace("\u2044", "/")):
        return f"these digits aren't the ones on the keyboard; type {usual.replace(chr(0x2044), '/')}"
    return "these digits aren't the ones on the keyboard (0-9)"


# ----------------------------------------------------------------------------------------------------
# Rows of numbers as people type them: brackets of any kind, commas or blanks, ``;`` or new lines.
#
# Separators, in order of strength: brackets, then ``;`` and new lines (between rows), then commas, then
# blanks.  Where an item allows the decimal comma, a comma between two digits is one, unless a
# decimal point occurs as well; a chain such as ``1,2,3`` is then ambiguous and refused.

MAX_TEXT = 10_000
MAX_ENTRIES = 1_000
_DEEPEST = 8

_WRAPPER = re.compile(
    r"(?:(?:np|numpy|torch)\.)?(?:array|tensor|matrix)\((?P<body>.*?)(?:,\s*(?:dtype|device)\s*=\s*[\w.'\":]+)*\)\Z",
    re.DOTALL,
)
_CALL = re.compile(r"(?<!\w)[0-9_]*+[A-Za-z]\w*+[ ]*+\(")
_TRANSPOSED = re.compile(r"(?:ᵀ|\^T|\^\{T\}|\.T)\Z")
_TOKEN = re.compile(r"[\[\](){}]|[,;\n]|[^\s\[\](){},;]+")
_OPENING, _CLOSING = "[({", "])}"
_CHAIN = re.compile(r"[0-9],[0-9]+,[0-9]")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")


@dataclass(frozen=True, slots=True)
class NumberRows:
    """Rows of exact numbers.

    Parameters
    ----------
    rows : tuple of tuple of Fraction
        Perhaps of different lengths.
    is_flat : bool
        A single row that wasn't marked as one of several.
    has_glued_comma : bool
        A comma stood between two digits: perhaps it was meant as a decimal mark.
    """

    rows: tuple[tuple[Fraction, ...], ...]
    is_flat: bool
    has_glued_comma: bool = False

    @property
    def entries(self) -> tuple[Fraction, ...]:
        """All numbers in order."""
        return tuple(entry for row in self.rows for entry in row)

    def shape_words(self) -> str:
        """Return the shape as a person would say it."""
        sizes = [len(row) for row in self.rows]
        if self.is_flat:
            return count_noun(sizes[0], "number")
        if len(set(sizes)) > 1:
            return "rows of " + ", ".join(map(str, sizes)) + " numbers"
        return f"{len(sizes)} row{'s' * (len(sizes) > 1)} of {sizes[0]} number{'s' * (sizes[0] > 1)}"


def read_numbers(text: str, *, decimal_comma: bool = False) -> NumberRows:
    """Read numbers in any layout.

    Parameters
    ----------
    text : str
        As typed; not blank.
    decimal_comma : bool
        Whether ``0,5`` means one half.

    Raises
    ------
    ResponseFormatError
        Something isn't a number, brackets don't match, or the text is too long.
    """
    if len(text) > MAX_TEXT:
        raise format_error(
            f"the answer has {count_noun(len(text), 'character')}; at most {MAX_TEXT} are read", text[:60]
        )
    body = _unwrapped(normal_signs(text).strip())
    turned = _TRANSPOSED.search(body)
    if turned is not None:
        body = body[: turned.start()].rstrip()
    if _CALL.search(body):
        raise format_error("expressions aren't computed here; type the numbers", text)
    glued = bool(_COMMA.search(body))
    if decimal_comma and glued:
        body = _body_with_points(body)
    body = re.sub(r"(?<=[0-9.])[ ]*/[ ]*(?=[0-9.+-])", "/", body)
    body = re.sub(r"(?:(?<=^)|(?<=[\[({,;\n]))([ ]*[+-]) +(?=[0-9.])", r"\1", body)
    rows, is_flat = _Layout(body, text).read()
    if turned is not None:
        rows, is_flat = _transposed(rows, text), False
    return NumberRows(rows, is_flat, glued)


def _unwrapped(text: str) -> str:
    wrapper = _WRAPPER.match(text)
    return wrapper["body"].strip() if wrapper is not None else text


def _body_with_points(body: str) -> str:
    if re.search(r"[0-9]\.[0-9]|(?<![0-9])\.[0-9]", body):
        return body
    if _CHAIN.search(body):
        raise format_error(
            "commas between digits can be read in two ways here",
            body,
            expected="a blank or ; between entries, such as 0,1; 0,2; 0,7",
        )
    return _COMMA.sub(".", body)


def _transposed(rows: tuple[tuple[Fraction, ...], ...], text: str) -> tuple[tuple[Fraction, ...], ...]:
    if len({len(row) for row in rows}) != 1:
        raise format_error("the rows differ in length", text)
    return tuple(zip(*rows, strict=True))


class _Layout:
    """Splits a text into rows."""

    def __init__(self, body: str, typed: str) -> None:
        self._tokens = _TOKEN.findall(body)
        self._typed = typed
        self._count = 0

    def fault(self, what: str) -> ResponseFormatError:
        return format_error(what, self._typed)

    def read(self) -> tuple[tuple[tuple[Fraction, ...], ...], bool]:
        """Return the rows, and whether they are one row not marked as such."""
        self._check_brackets()
        tokens = self._tokens
        depth = 0
        while self._is_enclosed(tokens):
            tokens = tokens[1:-1]
            depth += 1
        if depth > 2:
            raise self.fault("the brackets are nested deeper than a matrix")
        if any(token in _OPENING for token in tokens):
            return self._bracketed(tokens), False
        rows = self._split_rows(tokens)
        return rows, len(rows) == 1 and depth < 2

    def _check_brackets(self) -> None:
        stack: list[str] = []
        deepest = 0
        for token in self._tokens:
            if token in _OPENING:
                stack.append(token)
                deepest = max(deepest, len(stack))
            elif token in _CLOSING and (not stack or _OPENING.index(stack.pop()) != _CLOSING.index(token)):
                raise self.fault("the brackets don't match")
        if stack:
            raise self.fault("a bracket isn't closed")
        if deepest > _DEEPEST:  # each further one would cost a look at all tokens
            raise self.fault("the brackets are nested deeper than a matrix")

    def _is_enclosed(self, tokens: list[str]) -> bool:
        if len(tokens) < 2 or tokens[0] not in _OPENING:
            return False
        depth = 0
        for i, token in enumerate(tokens):
            depth += (token in _OPENING) - (token in _CLOSING)
            if depth == 0:
                return i == len(tokens) - 1
        return False

    def _bracketed(self, tokens: list[str]) -> tuple[tuple[Fraction, ...], ...]:
        """Read a sequence of bracketed rows, with nothing but separators between them."""
        rows: list[tuple[Fraction, ...]] = []
        inside: list[str] | None = None
        separators = 0
        for token in tokens:
            if token in _OPENING:
                if inside is not None:
                    raise self.fault("the brackets are nested deeper than a matrix")
                inside, separators = [], 0
            elif token in _CLOSING:
                rows.append(self._entries(inside or []))
                inside = None
            elif inside is not None:
                inside.append(token)
            elif token in (",", ";"):
                separators += 1
                if separators > 1:
                    raise self.fault("a row is missing between two separators")
            elif token != "\n":
                raise self.fault(
                    f"{clean_line(token, 20)} stands outside the brackets; type the numbers only"
                )
        return tuple(rows)

    def _split_rows(self, tokens: list[str]) -> tuple[tuple[Fraction, ...], ...]:
        """Split at ``;`` and new lines; a new line after a comma only continues the row."""
        rows: list[list[str]] = [[]]
        for token in tokens:
            if token == ";":
                if not rows[-1]:
                    raise self.fault("a row is empty")
                rows.append([])
            elif token == "\n":
                if rows[-1] and rows[-1][-1] != ",":
                    rows.append([])
            else:
                rows[-1].append(token)
        if len(rows) > 1 and not rows[-1]:
            rows.pop()  # a separator at the very end
        return tuple(self._entries(row) for row in rows)

    def _entries(self, tokens: list[str]) -> tuple[Fraction, ...]:
        entries: list[Fraction] = []
        after_comma = True
        for token in tokens:
            if token == ",":
                if after_comma:
                    raise self.fault("an entry is missing before a comma")
                after_comma = True
            elif token == "\n":
                continue
            elif token == ";":
                raise self.fault("; stands inside the brackets of a row")
            else:
                entries.append(read_numeral(token))
                after_comma = False
                self._count += 1
                if self._count > MAX_ENTRIES:
                    raise self.fault(f"more than {MAX_ENTRIES} numbers")
        if after_comma:
            raise self.fault("an entry is missing after a comma" if entries else "there are no numbers in it")
        return tuple(entries)


# ----------------------------------------------------------------------------------------------------
# Letters of options as people type them: ``a, c``, ``(a) (c)``, ``ac``, ``A and C``, ``c > a > b``.

MAX_LABELS = 1_000  # 26 letters, however they are set apart

_BETWEEN_LABELS = re.compile(r"(?:[\s,;/&+>|→⟶⇒➔]|(?<![-=])[-=]++>|\b(?:and|und|then)\b)+", re.IGNORECASE)
_DASHED = re.compile(r"(?<=[A-Za-z)])\s*-\s*(?=[A-Za-z(])")
_LEAD = re.compile(
    r"(?:(?:the|my|only)\s+)?(?:(?:right|correct|final)\s+)?"
    r"(?:answers?|options?|choices?|antwort(?:en)?|réponses?)(?:\s+(?:is|are|ist|sind))?"
    r"(?:\s*[:=]\s*|\s+)(?=\S)",
    re.IGNORECASE,
)
_OPTION_LABEL = re.compile(r"\(?([A-Za-z])[).:]?")
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
    if len(text) > MAX_LABELS:
        raise format_error(
            f"the answer has {count_noun(len(text), 'character')}; at most {MAX_LABELS} are read", text[:60]
        )
    body = _WRAPPING.sub(" ", _BULLET.sub(" ", normal_signs(text).translate(_LOOKALIKES))).strip()
    lead = _LEAD.match(body)
    body = body if lead is None else body[lead.end() :]
    if in_order:
        body = _DASHED.sub(" ", body)
    if body[:1] + body[-1:] in ("[]", "{}") or re.fullmatch(r"\([^()]*\)", body):
        body = body[1:-1]
    found: list[str] = []
    for token in filter(None, _BETWEEN_LABELS.split(body)):
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


# ----------------------------------------------------------------------------------------------------
# What people write around an answer: a name before it, a remark behind it, what was counted, quotes.
#
# Only what can't change the number is taken away.  ``30 (million)`` and ``5 %`` keep their words, and are
# refused later.

_NAME_BEFORE = re.compile(
    r"(?:[^\W\d_]{1,12}[0-9₀-₉]{0,2}|[^\W\d_]{1,12}_(?:\w{1,3}|\{\w{1,3}\}))"
    r"(?:\^?[(⁽][^\W\d]{1,2}[)⁾]|\^?[ᵀ⁽ᵗ⁾]{1,3})?[ ]{0,3}(?:=|:=|:|≈)(?![=])"
)
_ABOUT = re.compile(
    r"(?:≈|~|∼|≃|=|approx\.?|approximately|about|ca\.|circa|ungefähr|etwa|rund|environ|env\.)(?=[\s+\-.0-9\[(])",
    re.IGNORECASE,
)
_MINUS_WORD = re.compile(r"(?:minus|moins)[ ]{1,3}(?=[.,]?[0-9])", re.IGNORECASE)
_REMARK = re.compile(
    r"(?:rounded|rounded off|approx\.?|approximately|exact|exactly|roughly|ca\.|circa|gerundet|exakt|"
    r"arrondie?)"
    r"(?: to [0-9]{1,2} [a-z]{2,11}(?: [a-z]{2,11})?)?",
    re.IGNORECASE,
)
_QUOTES = ('""', "''", "``", "“”", "„“", "‘’", "«»", "$$")
_COUNTED = re.compile(
    r"(?:step|time|word|token|number|param|parameter|weight|row|column|score|state|vector|product|multiplication|"
    r"addition|op|operation|head|layer|position|sequence|candidate|path|connection|value|key|dimension|dim|unit|"
    r"evaluation|pair|sentence|link)s?|entr(?:y|ies)|matri(?:x|ces)|hypothes[ie]s|quer(?:y|ies)|"
    r"schritte?n?|wort|wörter|gewichte?|zeilen?|spalten?|mal|étapes?|mots?|poids|lignes?|colonnes?|fois",
    re.IGNORECASE,
)


def without_asides(text: str) -> str:
    """Return an answer without the name before it, the remark behind it, and the full stop at its end.

    Parameters
    ----------
    text : str
        With usual signs, see :func:`engine.answers.parsing.normal_signs`.
    """
    bare = text.strip()
    for quotes in _QUOTES:
        if len(bare) > 2 and bare[0] == quotes[0] and bare[-1] == quotes[1]:
            bare = bare[1:-1].strip()
    bare = _without_end(bare)
    for opening in (_NAME_BEFORE, _ABOUT):
        found = opening.match(bare)
        if found is not None and bare[found.end() :].strip():
            bare = bare[found.end() :].strip()
    bare = _MINUS_WORD.sub("-", bare, count=1) if _MINUS_WORD.match(bare) else bare
    return _without_end(bare)


def _without_end(text: str) -> str:
    """Return a text without a remark in brackets and without a full stop at its end."""
    bare = text
    if bare.endswith((")", "]")):
        start = max(bare.rfind("("), bare.rfind("["))
        if start > 0 and _REMARK.fullmatch(bare[start + 1 : -1].strip()):
            bare = bare[:start].rstrip()
    return bare[:-1].rstrip() if bare.endswith(".") and len(bare) > 1 else bare


def without_count_word(text: str) -> str:
    """Return ``28`` for ``28 steps``, where what is counted is one of the usual words."""
    head, _, word = text.rpartition(" ")
    if not head:
        found = re.fullmatch(r"([0-9]{1,20})([^\W\d_]{2,16})", text)
        head, word = found.groups() if found is not None else ("", "")
    return head.rstrip() if head and _COUNTED.fullmatch(word) else text


# ----------------------------------------------------------------------------------------------------
# What a comma, a point or a blank between digits means: a decimal mark, thousands, or the next number.
#
# A text is read with commas as separators and, where that may be meant, with decimal commas. The field
# decides which of the two fits. A text that fits neither, or may hold thousands, is refused with advice at no
# cost.

_POINT = re.compile(r"[0-9]\.[0-9]|(?<![0-9])\.[0-9]")
_LEADING = re.compile(r"(?:^|(?<=[\s\[({;+-])),(?=[0-9])")
_BLANK = re.compile(r"[0-9] +[+-]?[0-9.]")
_HAS_COMMA = re.compile(r"(?<![0-9])[0-9]*,[0-9]+")
_GROUPS = r"[1-9][0-9]{0,2}(?:%s[0-9]{3})+(?![0-9])"
_THOUSANDS = (",", r"\.", "[ ]", "['’‘′`´]", "_", "[·٬˙]")
_GROUPED = [re.compile(rf"(?<![0-9.,]){_GROUPS % mark}") for mark in _THOUSANDS]
_GROUPED_ALONE = [re.compile(rf"([+-]?)({_GROUPS % mark})(?:[.,]([0-9]+))?") for mark in _THOUSANDS]
_AS_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")
_POINTED = re.compile(r"(?<![\w.,])[+-]?([1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?![\w./])")


def ungrouped(text: str) -> str | None:
    """Return one number without the separators between its thousands, or None if it has none.

    ``25,270``, ``25 270``, ``25'270`` and ``25_270`` give ``25270``, ``12,345.5`` gives ``12345.5``.
    """
    for pattern in _GROUPED_ALONE:
        found = pattern.fullmatch(text)
        if found is not None:
            sign, groups, decimals = found.groups()
            return sign + re.sub(r"[^0-9]", "", groups) + (f".{decimals}" if decimals else "")
    return None


def pointed_thousands(text: str) -> str | None:
    """Return the first number such as ``25.270``, in which the point may separate thousands, or None."""
    found = _POINTED.search(text)
    return found[1] if found is not None else None


def _some_ungrouped(text: str) -> str | None:
    for pattern in _GROUPED:
        found = pattern.search(text)
        if found is not None and (pattern is not _GROUPED[1] or found[0].count(".") > 1):
            return re.sub(r"[^0-9]", "", found[0])
    return None


def _with_points(text: str) -> str | None:
    """Return a text with points for its decimal commas, or None if it has none that could be meant."""
    with_points = _LEADING.sub(".", _COMMA.sub(".", text))
    if with_points == text or _POINT.search(text) or _CHAIN.search(text):
        return None
    return with_points


def decided(
    text: str,
    fits: Callable[[NumberRows], bool],
    wanted: str,
    *,
    decimal_comma: bool,
    is_whole: bool,
) -> NumberRows:
    """Return the numbers of an answer, in the reading that fits the field.

    Parameters
    ----------
    text : str
        With usual signs, without what stands around the numbers.
    fits : callable
        Whether numbers have the field's shape.
    wanted : str
        That shape, in words.
    decimal_comma : bool
        Whether the item or the course says that ``0,5`` means one half.
    is_whole : bool
        Whether the field takes whole numbers only.

    Raises
    ------
    ResponseFormatError
        No reading fits, or several may be meant.
    """
    by_commas, fault = _read(text)
    pointed = _with_points(text)
    as_decimals = _read(pointed)[0] if pointed is not None else None
    by_points = as_decimals if as_decimals is not None and fits(as_decimals) else None
    if by_commas is not None and fits(by_commas) and not (decimal_comma and pointed and not is_whole):
        if pointed is None or is_whole or not _BLANK.search(text):
            return by_commas
        raise _unclear(text, wanted)
    if by_points is not None and not is_whole:
        if decimal_comma or len(_AS_THOUSANDS.findall(text)) < len(_HAS_COMMA.findall(text)):
            return by_points
        plain = ungrouped(text)
        raise format_error(
            "a comma can be a decimal mark or separate thousands here",
            text,
            expected=f"{pointed} with a decimal point, or {plain} without separators"
            if plain
            else "decimal points, and no separators between thousands",
        )
    if (plain := ungrouped(text)) is not None:
        raise format_error(f"write large numbers without separators: {plain}", text, expected=wanted)
    if by_points is not None and _some_ungrouped(text) is None:
        raise format_error("this field takes whole numbers, without a decimal mark", text, expected=wanted)
    if by_commas is None:
        if (some := _some_ungrouped(text)) is not None:
            raise format_error(
                f"write large numbers without separators, such as {some}", text, expected=wanted
            ) from fault
        raise fault or format_error("this can't be read", text, expected=wanted)
    seen = as_decimals if decimal_comma and as_decimals is not None and not is_whole else by_commas
    raise _shape(text, seen, wanted, decimal_comma=decimal_comma, is_whole=is_whole)


def _read(text: str) -> tuple[NumberRows | None, ResponseFormatError | None]:
    try:
        return read_numbers(text), None
    except ResponseFormatError as error:
        return None, error


def _unclear(text: str, wanted: str) -> ResponseFormatError:
    return format_error(
        "commas between digits can be read in two ways here",
        text,
        expected=f"{wanted}; with points as decimal marks, or with a blank after each comma between numbers",
    )


def _shape(
    text: str, numbers: NumberRows, wanted: str, *, decimal_comma: bool, is_whole: bool
) -> ResponseFormatError:
    what = f"this is {numbers.shape_words()}, but the field takes {wanted}"
    some = _some_ungrouped(text)
    has_comma = bool(_COMMA.search(text))
    if has_comma and decimal_comma and not is_whole:
        if _CHAIN.search(text):
            return format_error(
                "commas between digits can be read in two ways here",
                text,
                expected="a blank or ; between entries, such as 0,1; 0,2; 0,7",
            )
        what += "; a comma between digits is a decimal comma here, so put a blank or ; between entries"
    elif some is not None:
        what += f"; large numbers are written without separators, such as {some}"
    elif has_comma and not is_whole:
        what += "; if a comma is meant as a decimal mark, type a point"
    return format_error(what, text, expected=wanted)
