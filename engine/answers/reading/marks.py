"""What a comma, a point or a blank between digits means: a decimal mark, thousands, or the next number.

A text is read with commas as separators and, where that may be meant, with decimal commas.  The field decides
which of the two fits.  What fits neither, or could be thousands, is refused with advice: that costs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from engine.answers.reading.arrays import Numbers, read_numbers
from engine.answers.reading.numeral import format_error
from engine.errors import ResponseFormatError

__all__ = ["decided", "pointed_thousands", "ungrouped"]

_POINT = re.compile(r"[0-9]\.[0-9]|(?<![0-9])\.[0-9]")
_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_LEADING = re.compile(r"(?:^|(?<=[\s\[({;+-])),(?=[0-9])")
_CHAIN = re.compile(r"[0-9],[0-9]+,[0-9]")
_BLANK = re.compile(r"[0-9] +[+-]?[0-9.]")
_HAS_COMMA = re.compile(r"(?<![0-9])[0-9]*,[0-9]+")
_GROUPS = r"[1-9][0-9]{0,2}(?:%s[0-9]{3})+(?![0-9])"
_SEPARATORS = (",", r"\.", "[ ]", "['’‘′`´]", "_", "[·٬˙]")
_GROUPED = [re.compile(rf"(?<![0-9.,]){_GROUPS % mark}") for mark in _SEPARATORS]
_GROUPED_ALONE = [re.compile(rf"([+-]?)({_GROUPS % mark})(?:[.,]([0-9]+))?") for mark in _SEPARATORS]
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
    fits: Callable[[Numbers], bool],
    wanted: str,
    *,
    decimal_comma: bool,
    is_whole: bool,
) -> Numbers:
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


def _read(text: str) -> tuple[Numbers | None, ResponseFormatError | None]:
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
    text: str, numbers: Numbers, wanted: str, *, decimal_comma: bool, is_whole: bool
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
