r"""What is copied from elsewhere, in plain signs: LaTeX, tables, printed numpy numbers, powers of ten.

Only notation is changed, never a number: ``\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`` becomes
``1 , 2 ; 3 , 4``. What isn't known here stays, and is refused later.
"""

from __future__ import annotations

import re
import unicodedata

from engine.answers.parsing import format_error

__all__ = ["unpasted"]

_DECIMAL = r"[+-]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)"
# Printed by numpy 2 and torch for each number of a list.
_SCALAR = re.compile(
    r"(?:(?:np|numpy|torch)\.)?(?:float(?:16|32|64)|int(?:8|16|32|64)|tensor|array)"
    rf"\(\s*+({_DECIMAL}(?:e[+-]?[0-9]++)?)\s*+(?:,\s*+dtype=[\w.]++\s*+)?\)"
)
_POWER = re.compile(
    rf"(?<![\w.,])({_DECIMAL})\s*+(?:[×x*·⋅]|\\times(?![a-zA-Z])|\\cdot(?![a-zA-Z]))\s*+10\s*+"
    r"(?:(?:\^|\*\*)\s*+(?:\{\s*+([+-]?[0-9]++)\s*+\}|\(\s*+([+-]?[0-9]++)\s*+\)|([+-]?[0-9]++))|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]++))"
    r"(?![\w.])"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_VULGAR = re.compile("(?<![0-9.,])([0-9]{0,9})[ ]?([¼-¾⅐-⅞])(?![0-9/]|[.,][0-9])")
_FRACTION = re.compile(r"\\[dt]?frac\s*+\{\s*+([+-]?[0-9.]++)\s*+\}\s*+\{\s*+([0-9.]++)\s*+\}")
_ENVIRONMENT = re.compile(
    r"\\begin\s*+\{(?:[pbBvV]?matrix|smallmatrix|array)\}(?:\s*+\{[clr|]*+\})?|\\end\s*+\{(?:[pbBvV]?matrix|smallmatrix|array)\}"
)
_ROW_ENDS = re.compile(r"\\\\(?:\[[0-9a-z.]*+\])?|\\cr(?![a-zA-Z])|\\newline(?![a-zA-Z])")
_TRANSPOSED = re.compile(
    r"\^\s*+(?:\{\s*+)?\\(?:top|intercal|mathsf\{T\}|mathrm\{T\}|mathtt\{T\}|text\{T\})(?:\s*+\})?"
)
_SPACES = re.compile(
    r"\\(?:left|right|bigl?|bigr?|Bigl?|Bigr?|quad|qquad|displaystyle)(?![a-zA-Z])|\\[,;:! ()\[\]]"
)
_WRAPPED = re.compile(
    r"\\(?:boxed|vec|hat|bar|tilde|mathbf|boldsymbol|bm|mathrm|text|mathit|underline)\s*+\{([^{}]*+)\}"
)
_GREEK = re.compile(
    r"\\(?:alpha|beta|gamma|delta|epsilon|theta|lambda|mu|pi|rho|sigma|tau|phi|psi|omega)(?![a-zA-Z])"
)
_RULE = re.compile(r"[\s|:+=-]++")
_CORNERS = str.maketrans("⎡⎢⎣⎤⎥⎦⎛⎜⎝⎞⎟⎠│┃║", "            |||")
_BULLET = re.compile(r"[-*•]\s++(?=[+\-.0-9\[(])")


def unpasted(text: str) -> str:
    """Return an answer without the notation of what it was copied from.

    Parameters
    ----------
    text : str
        With usual signs, see :func:`engine.answers.parsing.normal_signs`.

    Raises
    ------
    ResponseFormatError
        Every line begins with a dash that can be a list's or a minus sign.
    """
    plain = _SCALAR.sub(r"\1", text)
    if "\\" in plain:
        plain = _without_latex(plain)
    plain = plain.replace("{,}", ",")
    plain = _POWER.sub(_as_exponent, plain)
    plain = _VULGAR.sub(_as_quotient, plain)
    lines = plain.translate(_CORNERS).strip().split("\n")
    if len(lines) > 1 and all(_BULLET.match(line.strip()) for line in lines if line.strip()):
        if any(line.strip().startswith("-") for line in lines) and "[" not in plain and "(" not in plain:
            raise format_error(
                "the dash before each line can begin the entry of a list or be a minus sign",
                text,
                expected="minus signs next to their numbers, and nothing else before these",
            )
        lines = [_BULLET.sub("", line.strip(), count=1) for line in lines]
    if any("|" in line for line in lines):
        lines = _without_bars(lines)
    plain = "\n".join(_with_blanks(lines)).strip()
    if plain[:1] + plain[-1:] in ("<>", "⟨⟩") and len(plain) > 2:
        plain = f"[{plain[1:-1]}]"
    return plain


def _without_latex(text: str) -> str:
    plain = _TRANSPOSED.sub("^T", text.replace("$", " "))
    plain = _FRACTION.sub(r"\1/\2", plain)
    if _ENVIRONMENT.search(plain) or "&" in plain:
        plain = _ENVIRONMENT.sub(" ", plain)
        rows = [" ".join(row.split()) for row in _ROW_ENDS.split(plain)]
        plain = " ; ".join(row for row in rows if row)
    plain = _SPACES.sub(" ", plain)
    for _ in range(3):  # one inside another
        plain = _WRAPPED.sub(r" \1 ", plain)
    plain = _GREEK.sub("α", plain)
    return re.sub(r"\\(?:approx|simeq)(?![a-zA-Z])", "≈", plain).replace("&", " , ").strip()


def _as_exponent(found: re.Match[str]) -> str:
    exponent = next(group for group in found.groups()[1:] if group is not None)
    return f"{found[1]}e{exponent.translate(_RAISED)}"


def _as_quotient(found: re.Match[str]) -> str:
    above, _, below = unicodedata.normalize("NFKC", found[2]).partition("\u2044")
    if not below.isdigit():  # ⅟ has nothing below it
        return found[0]
    return f"{int(found[1] or 0) * int(below) + int(above)}/{below}"


def _without_bars(lines: list[str]) -> list[str]:
    """Return the rows of a table with bars between its cells, without its rule and a head without numbers."""
    rules = [at for at, line in enumerate(lines) if "|-" in line and _RULE.fullmatch(line)]
    if rules:
        is_head = not any(c.isdigit() for line in lines[: rules[0]] for c in line)
        lines = [line for at, line in enumerate(lines) if at not in rules and not (is_head and at < rules[0])]
    return [line.strip().strip("|").strip().replace("|", " , ") for line in lines]


def _with_blanks(lines: list[str]) -> list[str]:
    """Return rows on lines of their own in which ``;`` parts the entries with a blank in its place."""
    cells = [[cell.strip() for cell in line.rstrip(" ;").split(";")] for line in lines if line.strip()]
    counts = {len(row) for row in cells}
    if len(cells) < 2 or len(counts) != 1 or counts == {1}:
        return lines
    if any(" " in cell or not cell for row in cells for cell in row):
        return lines
    return [" ".join(row) for row in cells]
