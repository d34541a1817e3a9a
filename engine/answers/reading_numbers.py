"""Numbers as people type them: one numeral, rows in any layout, and what a comma between digits means.

Separators, in order of strength: brackets of any kind, then ``;`` and new lines (between rows), then commas,
then blanks.  What can be read in two ways is refused with advice, at no cost: a wrong guess would cost marks.

>>> read_numbers("[1/3, .5; 2e-1, -4]").rows
((Fraction(1, 3), Fraction(1, 2)), (Fraction(1, 5), Fraction(-4, 1)))
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from engine.answers.typed_text import format_error, normal_signs
from engine.errors import ResponseFormatError
from engine.text.words import clean_line, count_noun

# No number of an exercise needs more, and exact fractions of longer ones cost time that others wait for.
MAX_NUMERAL = 60
# The range of a float: every number that is read can also be compared as one.
_MAX_EXPONENT = 308

_DECIMAL = r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?"
_PLAIN = re.compile(_DECIMAL)
_QUOTIENT = re.compile(rf"({_DECIMAL})/({_DECIMAL})")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)$")
_SUPER = re.compile(r"[×x*·]\s*10\s*(?:\^|\*\*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])")


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
    if exponent is None:  # 60 digits stay far below the bound
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
        return f"{clean_line(token, 20)} isn't a number"
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


# The largest field takes far less; what is longer is a file pasted by mistake.
MAX_TEXT = 10_000
MAX_ENTRIES = 1_000
# Brackets around brackets say nothing beyond a matrix's two; a few more are forgiven.
_DEEPEST = 8

# array([1, 2]), np.array(…), tensor(…, dtype=…): what printing an array or typing it in Python gives.
_WRAPPER = re.compile(
    r"(?:(?:np|numpy|torch)\.)?(?:array|tensor|matrix)\((?P<body>.*?)(?:,\s*(?:dtype|device)\s*=\s*[\w.'\":]+)*\)\Z",
    re.DOTALL,
)
# A name before a bracket calls something: a formula, which is the student's to compute.
_CALL = re.compile(r"(?<!\w)[0-9_]*+[A-Za-z]\w*+[ ]*+\(")
_TRANSPOSED = re.compile(r"(?:ᵀ|\^T|\^\{T\}|\.T)\Z")
_TOKEN = re.compile(r"[\[\](){}]|[,;\n]|[^\s\[\](){},;]+")
_OPENING, _CLOSING = "[({", "])}"
_SPACED_BAR = re.compile(r"(?<=[0-9.])[ ]*/[ ]*(?=[0-9.+-])")
_SIGN_APART = re.compile(r"(?:(?<=^)|(?<=[\[({,;\n]))([ ]*[+-]) +(?=[0-9.])")
# 1,2,3 is three numbers, or 1.2 and 3, or 1 and 2.3: with decimal commas it is never read.
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
        if len(self.rows) == 1:
            return self.rows[0]
        return tuple(entry for row in self.rows for entry in row)

    def has_shape(self, shape: tuple[int, ...]) -> bool:
        """Return whether the numbers are laid out as an array of this shape; a vector may be a column."""
        sizes = [len(row) for row in self.rows]
        if len(shape) == 2:
            return len(sizes) == shape[0] and set(sizes) == {shape[1]}
        count = shape[0] if shape else 1
        return len(self.entries) == count and (len(sizes) == 1 or max(sizes) == 1)

    def shape_words(self) -> str:
        """Return the shape as a person would say it."""
        sizes = [len(row) for row in self.rows]
        if self.is_flat:
            return count_noun(sizes[0], "number")
        if len(set(sizes)) > 1:
            return "rows of " + ", ".join(map(str, sizes)) + " numbers"
        return f"{count_noun(len(sizes), 'row')} of {count_noun(sizes[0], 'number')}"


# What most people type, which has one reading: "[0.1, 0.25]", "0.1 0.25" or "[[1, 2], [3, 4]]". Everything
# else takes the long way, of twenty patterns.
_ENTRY = r"-?+[0-9]{1,15}+(?:\.[0-9]{1,15}+)?+"
_ROW = rf"{_ENTRY}(?:,?+ {_ENTRY})*+"
_USUAL = re.compile(rf"{_ROW}|\[{_ROW}\]|\[\[{_ROW}\](?:, \[{_ROW}\])*+\]")
# Its longest: a hundred entries and more.
_LONGEST_USUAL = 1_000


def is_usual(text: str) -> bool:
    """Return whether a text holds nothing but numbers in the most usual notation, which can't be misread."""
    return len(text) <= _LONGEST_USUAL and _USUAL.fullmatch(text) is not None


def usual_rows(text: str) -> NumberRows:
    """Return the numbers of a text that is :func:`is_usual`."""
    if text.startswith("[["):
        rows = [row.replace(",", "").split(" ") for row in text[2:-2].split("], [")]
        return NumberRows(tuple(tuple(map(_usual_value, row)) for row in rows), is_flat=False)
    entries = text.strip("[]").replace(",", "").split(" ")
    return NumberRows((tuple(map(_usual_value, entries)),), is_flat=True)


# Weights of a class to three decimals are a thousand numbers, and making a fraction is most of reading one.
@lru_cache(maxsize=4096)
def _usual_value(token: str) -> Fraction:
    whole, _, decimals = token.partition(".")
    return Fraction(int(whole + decimals), 10 ** len(decimals))


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
    if is_usual(text):
        return usual_rows(text)
    body = _unwrapped(normal_signs(text).strip())
    transposed = _TRANSPOSED.search(body)
    if transposed is not None:
        body = body[: transposed.start()].rstrip()
    if _CALL.search(body):
        raise format_error("expressions aren't computed here; type the numbers", text)
    has_glued_comma = bool(_COMMA.search(body))
    if decimal_comma and has_glued_comma:
        body = _body_with_points(body)
    # Blanks separate entries, but not within "1 / 3" or between a sign and its number.
    body = _SIGN_APART.sub(r"\1", _SPACED_BAR.sub("/", body))
    rows, is_flat = _RowSplitter(body, text).read()
    if transposed is not None:
        rows, is_flat = _transposed(rows, text), False
    return NumberRows(rows, is_flat, has_glued_comma)


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


class _RowSplitter:
    def __init__(self, body: str, typed: str) -> None:
        self._tokens = _TOKEN.findall(body)
        self._typed = typed
        self._count = 0

    def _fault(self, fault: str) -> ResponseFormatError:
        return format_error(fault, self._typed)

    def read(self) -> tuple[tuple[tuple[Fraction, ...], ...], bool]:
        self._check_brackets()
        tokens = self._tokens
        depth = 0
        while self._is_enclosed(tokens):
            tokens = tokens[1:-1]
            depth += 1
        if depth > 2:
            raise self._fault("the brackets are nested deeper than a matrix")
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
                raise self._fault("the brackets don't match")
        if stack:
            raise self._fault("a bracket isn't closed")
        if deepest > _DEEPEST:  # taking off each further pair costs a look at all tokens
            raise self._fault("the brackets are nested deeper than a matrix")

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
                    raise self._fault("the brackets are nested deeper than a matrix")
                inside, separators = [], 0
            elif token in _CLOSING:
                rows.append(self._entries(inside or []))
                inside = None
            elif inside is not None:
                inside.append(token)
            elif token in (",", ";"):
                separators += 1
                if separators > 1:
                    raise self._fault("a row is missing between two separators")
            elif token != "\n":
                raise self._fault(f"{clean_line(token, 20)} is outside the brackets; type the numbers only")
        return tuple(rows)

    def _split_rows(self, tokens: list[str]) -> tuple[tuple[Fraction, ...], ...]:
        """Split at ``;`` and new lines; a new line after a comma only continues the row."""
        rows: list[list[str]] = [[]]
        for token in tokens:
            if token == ";":
                if not rows[-1]:
                    raise self._fault("a row is empty")
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
                    raise self._fault("an entry is missing before a comma")
                after_comma = True
            elif token == "\n":
                continue
            elif token == ";":
                raise self._fault("; is inside the brackets of a row")
            else:
                entries.append(read_numeral(token))
                after_comma = False
                self._count += 1
                if self._count > MAX_ENTRIES:
                    raise self._fault(f"more than {MAX_ENTRIES} numbers")
        if after_comma:
            raise self._fault(
                "an entry is missing after a comma" if entries else "there are no numbers in it"
            )
        return tuple(entries)


# What a comma, a point or a blank between digits means: a decimal mark, thousands, or the next number.
#
# A text is read with commas as separators and, where that may be meant, with decimal commas. The field
# decides which of the two fits: three numbers or one. A text that fits neither, or may hold thousands, is
# refused with advice.

# A number with a point has its decimal mark already: then no comma is one.
_POINT = re.compile(r"[0-9]\.[0-9]|(?<![0-9])\.[0-9]")
# ,5 for 0,5: a comma that nothing comes before separates nothing.
_LEADING = re.compile(r"(?:^|(?<=[\s\[({;+-])),(?=[0-9])")
_BLANK = re.compile(r"[0-9] +[+-]?[0-9.]")
_HAS_COMMA = re.compile(r"(?<![0-9])[0-9]*,[0-9]+")
_GROUPS = r"[1-9][0-9]{0,2}(?:%s[0-9]{3})+(?![0-9])"
_THOUSANDS = (",", r"\.", "[ ]", "['’‘′`´]", "_", "[·٬˙]")
_GROUPED = [re.compile(rf"(?<![0-9.,]){_GROUPS % mark}") for mark in _THOUSANDS]
_GROUPED_ALONE = [re.compile(rf"([+-]?)({_GROUPS % mark})(?:[.,]([0-9]+))?") for mark in _THOUSANDS]
_THREE_DIGITS = re.compile("[0-9]{3}")  # without them nothing is a group of thousands
# 1,250 or 25,270: three digits behind the comma, and no zero before it.
_AS_THOUSANDS = re.compile(r"(?<![0-9.,])[1-9][0-9]{0,2},[0-9]{3}(?![0-9])")
# 25.270 in a field for whole numbers: German and Dutch readers separate thousands so.
_POINTED = re.compile(r"(?<![\w.,])[+-]?([1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?![\w./])")


def ungrouped(text: str) -> str | None:
    """Return one number without the separators between its thousands, or None if it has none.

    ``25,270``, ``25 270``, ``25'270`` and ``25_270`` give ``25270``, ``12,345.5`` gives ``12345.5``.
    """
    if _THREE_DIGITS.search(text) is None:
        return None
    for pattern in _GROUPED_ALONE:
        match = pattern.fullmatch(text)
        if match is not None:
            sign, groups, decimals = match.groups()
            return sign + re.sub(r"[^0-9]", "", groups) + (f".{decimals}" if decimals else "")
    return None


def pointed_thousands(text: str) -> str | None:
    """Return the first number such as ``25.270``, in which the point may separate thousands, or None."""
    match = _POINTED.search(text)
    return match[1] if match is not None else None


def _some_ungrouped(text: str) -> str | None:
    if _THREE_DIGITS.search(text) is None:
        return None
    for pattern in _GROUPED:
        match = pattern.search(text)
        # A single point is a decimal mark, whatever comes after it.
        if match is not None and (pattern is not _GROUPED[1] or match[0].count(".") > 1):
            return re.sub(r"[^0-9]", "", match[0])
    return None


def _with_points(text: str) -> str | None:
    """Return a text with points for its decimal commas, or None if it has none that could be meant."""
    with_points = _LEADING.sub(".", _COMMA.sub(".", text))
    if with_points == text or _POINT.search(text) or _CHAIN.search(text):
        return None
    return with_points


def read_fitting(
    text: str,
    fits: Callable[[NumberRows], bool],
    shape: str,
    *,
    decimal_comma: bool,
    is_whole: bool,
) -> NumberRows:
    """Return the numbers of an answer, in the reading that fits the field.

    Parameters
    ----------
    text : str
        With usual signs, without what surrounds the numbers.
    fits : callable
        Whether numbers have the field's shape.
    shape : str
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
        raise _unclear(text, shape)
    if by_points is not None and not is_whole:
        # 1,250 may be thousands; with another comma that can't separate thousands, all are decimal marks.
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
        raise format_error(f"write large numbers without separators: {plain}", text, expected=shape)
    if by_points is not None and _some_ungrouped(text) is None:
        raise format_error("this field takes whole numbers, without a decimal mark", text, expected=shape)
    if by_commas is None:
        if (some := _some_ungrouped(text)) is not None:
            raise format_error(
                f"write large numbers without separators, such as {some}", text, expected=shape
            ) from fault
        try:
            raise fault or format_error("this can't be read", text, expected=shape)
        finally:
            del fault  # its traceback holds this frame: only the collector would find the two
    numbers = as_decimals if decimal_comma and as_decimals is not None and not is_whole else by_commas
    raise _wrong_shape(text, numbers, shape, decimal_comma=decimal_comma, is_whole=is_whole)


def _read(text: str) -> tuple[NumberRows | None, ResponseFormatError | None]:
    try:
        return read_numbers(text), None
    except ResponseFormatError as error:
        return None, error


def _unclear(text: str, shape: str) -> ResponseFormatError:
    return format_error(
        "commas between digits can be read in two ways here",
        text,
        expected=f"{shape}; with points as decimal marks, or with a blank after each comma between numbers",
    )


def _wrong_shape(
    text: str, numbers: NumberRows, shape: str, *, decimal_comma: bool, is_whole: bool
) -> ResponseFormatError:
    fault = f"this is {numbers.shape_words()}, but the field takes {shape}"
    some = _some_ungrouped(text)
    has_comma = bool(_COMMA.search(text))
    if has_comma and decimal_comma and not is_whole:
        if _CHAIN.search(text):
            return format_error(
                "commas between digits can be read in two ways here",
                text,
                expected="a blank or ; between entries, such as 0,1; 0,2; 0,7",
            )
        fault += "; a comma between digits is a decimal comma here, so put a blank or ; between entries"
    elif some is not None:
        fault += f"; large numbers are written without separators, such as {some}"
    elif has_comma and not is_whole:
        fault += "; if a comma is meant as a decimal mark, type a point"
    return format_error(fault, text, expected=shape)
