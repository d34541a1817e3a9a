"""One number as people type it, as an exact fraction; or why it isn't one."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction

from engine.errors import ResponseFormatError
from engine.foreign import clean_line

__all__ = ["MAX_NUMERAL", "format_error", "normal_signs", "read_numeral"]

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
