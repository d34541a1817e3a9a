"""Inputs and outputs as text: clauses for messages, Python that can be copied for counterexamples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, SpecialArgument
from engine.runner import ExceptionInfo
from engine.text.escape import clean_line
from engine.text.words import count_noun

if TYPE_CHECKING:
    from engine.code.plan import InputPlan

_MOST_SHOWN = 400
_LONGEST_CALL = 160


def number(value: Any, digits: int = 6) -> str:
    """Return a number with some significant digits; NaN and infinities in words."""
    x = float(value)
    if math.isnan(x):
        return "NaN"
    if math.isinf(x):
        return "infinity" if x > 0 else "-infinity"
    return f"{x:.{digits}g}"


def number_pair(got: Any, due: Any) -> tuple[str, str]:
    """Return two different numbers as text, with as many digits as it takes to tell them apart."""
    for digits in (6, 9, 12):
        pair = (number(got, digits), number(due, digits))
        if pair[0] != pair[1]:
            return pair
    return number(got, 17), number(due, 17)  # 17 digits tell any two floats apart


def shape_text(shape: Sequence[int]) -> str:
    """Return a shape as Python writes it."""
    return str(tuple(int(size) for size in shape))


def exception_text(exception: ExceptionInfo) -> str:
    """Return class, text and line of a student's exception, cleaned: it is foreign."""
    name, text = clean_line(exception.type, 60), clean_line(exception.text, 160)
    file = "" if exception.file is None else f"{clean_line(exception.file, 60)}, "
    line = "" if exception.line is None else f" ({file}line {int(exception.line)})"
    return f"{name}: {text}{line}" if text else f"{name}{line}"


def described(plan: InputPlan, member: int, function: str, shapes: bool = False) -> str:
    """Return a call on a case as one short expression.

    Arrays beyond 16 entries stand there by their shapes; where the whole is too long to be read on one
    line, the longest arguments do, one after the other.
    """
    args = plan.cases[member].args
    texts = [_argument(value, shapes) for value in args]
    for place in sorted(range(len(args)), key=lambda place: -len(texts[place])):
        if len(", ".join(texts)) <= _LONGEST_CALL:
            break
        texts[place] = _argument(args[place], shapes=True)
    return f"{function}({', '.join(texts)})"


def _argument(value: Argument, shapes: bool) -> str:
    if isinstance(value, Mapping) and shapes:
        return "{" + ", ".join(f"{name}: {shape_text(array.shape)}" for name, array in value.items()) + "}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name!r}: {_argument(array, shapes)}" for name, array in value.items()) + "}"
    if isinstance(value, SpecialArgument):
        return value.described()
    if not isinstance(value, np.ndarray):
        return repr(value)
    if shapes or value.size > 16:
        return f"array of shape {shape_text(value.shape)}"
    suffix = "" if value.dtype in (np.float64, np.bool_) else f" as {value.dtype.name}"
    return _nested(value.tolist(), 6) + suffix


def _nested(value: Any, digits: int, point: bool = False) -> str:
    # with `point` whole numbers end in a dot, as numpy prints floats
    if isinstance(value, list):
        return "[" + ", ".join(_nested(item, digits, point) for item in value) + "]"
    if isinstance(value, float) and math.isfinite(value):
        text = f"{value + 0.0:.{digits}g}"  # -0.0 + 0.0 is 0.0
        return f"{text}." if point and text.lstrip("-").isdigit() else text
    return str(value)


def array_text(array: NDArray[Any], library: str, dtype: str, digits: int = 6) -> str:
    """Return an array as ``array([…])`` or ``tensor([…])``, with its dtype where it isn't float64.

    Of one with more than 400 entries only the first few are shown: it may be foreign, and nobody reads them.
    """
    name, prefix = ("array", "") if library == "numpy" else ("tensor", "torch.")
    truth = dtype == "bool" and array.size > 0  # printed as True and False, which say the dtype
    array = array.astype(bool) if truth else array
    suffix = "" if dtype == "float64" or truth else f", dtype={prefix}{dtype}"
    if array.size > _MOST_SHOWN:
        first = ", ".join(_nested(x, digits, point=True) for x in array.ravel()[:4].tolist())
        return f"{name}([{first}, …]{suffix}), {count_noun(array.size, 'entry')}"
    return f"{name}({_nested(array.tolist(), digits, point=True)}{suffix})"


def python_of(args: Sequence[Argument], names: Sequence[str], function: str, library: str) -> str:
    """Return Python that builds these arguments and calls the function: to be copied and run."""
    module = "import numpy as np" if library == "numpy" else "import torch"
    lines, passed = [module, ""], []
    is_search = any(isinstance(value, SpecialArgument) for value in args)  # such calls have many plain values
    for name, value in zip(names, args, strict=False):
        if isinstance(value, np.ndarray):
            lines.append(f"{name} = {_literal(value, library)}")
            passed.append(name)
        elif isinstance(value, Mapping):
            lines += _record(name, value, library)
            passed.append(name)
        elif isinstance(value, SpecialArgument):
            lines.append(value.python(name, library))
            passed.append(name)
        elif is_search:
            lines.append(f"{name} = {value!r}")
            passed.append(name)
        else:
            passed.append(repr(value))
    needed = "np." in "\n".join(lines[1:]) or "torch." in "\n".join(lines[1:])
    call = f"{function}({', '.join(passed)})"
    return "\n".join([*(lines if needed else lines[2:]), call])


def _record(name: str, value: Mapping[str, NDArray[Any]], library: str) -> list[str]:
    entries = (f"    {key!r}: {_literal(array, library)}," for key, array in value.items())
    return [f"{name} = {{", *entries, "}"]


def _literal(value: NDArray[Any], library: str) -> str:
    prefix, maker = ("np", "np.array") if library == "numpy" else ("torch", "torch.tensor")
    plain = value.dtype == np.bool_ or (value.dtype == np.float64 and library == "numpy")
    suffix = "" if plain else f", dtype={prefix}.{value.dtype.name}"
    return f"{maker}({value.tolist()!r}{suffix})"
