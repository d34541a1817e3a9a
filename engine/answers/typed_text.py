r"""What is the same for all typed answers: signs as on the keyboard, and what surrounds an answer.

People copy from pages, tables, LaTeX and numpy, and write ``w = …``, ``about`` or ``(rounded)`` around a
number.  Only notation is changed here, and only words that can't change a number are taken away:
``\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}`` becomes ``1 , 2 ; 3 , 4``, while ``30 (million)`` and
``5 %`` keep their words and are refused later, at no cost.
"""

from __future__ import annotations

import re
import unicodedata

from engine.errors import ResponseFormatError
from engine.text.words import clean_line

# Signs that editors, keyboards and typesetters put in the place of those of ASCII. Dashes: all of Unicode
# (category Pd) but the wavy ones, which mean "about" or "to".
_DASHES = (
    "-\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2e3a\u2e3b\ufe31\ufe32\ufe58\ufe63\uff0d"
    "\U00010d6e\U00010ead"
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


def format_error(
    fault: str,
    got: str,
    expected: str | None = None,
    next_step: str = "type it again; this costs no attempt",
) -> ResponseFormatError:
    """Return the error for what can't be read; `got` is foreign text.

    Parameters
    ----------
    fault : str
        What is wrong.
    got : str
        What was typed.
    expected : str, optional
        How the field is answered.
    next_step : str
        What the student can do.
    """
    return ResponseFormatError(
        fault,
        expected=expected,
        got=clean_line(got, 80) or "nothing",
        next_step=next_step,
    )


def normal_signs(text: str) -> str:
    """Return text with signs and digits as on the keyboard: minus, plus, full-width forms, blanks."""
    if text.isascii() and text.isprintable():  # typed on such a keyboard, without tabs or line ends
        return text
    dashed = _RAISED_PLUS.sub("+", _RAISED_MINUS.sub("-", text.translate(_SIGNS)))
    return "".join(
        " " if c.isspace() and c != "\n" else c for c in dashed.replace("\r\n", "\n").replace("\r", "\n")
    )


# "w =", "c_t:", "ŷ ≈": a short name with a sign after it. "x == 3" is a comparison and no name.
_NAME_BEFORE = re.compile(
    r"(?:[^\W\d_]{1,12}[0-9₀-₉]{0,2}|[^\W\d_]{1,12}_(?:\w{1,3}|\{\w{1,3}\}))"
    r"(?:\^?[(⁽][^\W\d]{1,2}[)⁾]|\^?[ᵀ⁽ᵗ⁾]{1,3})?[ ]{0,3}(?:=|:=|:|≈)(?![=])"
)
_ABOUT = re.compile(
    r"(?:≈|~|∼|≃|=|approx\.?|approximately|about|ca\.|circa|ungefähr|etwa|rund|environ|env\.)(?=[\s+\-.0-9\[(])",
    re.IGNORECASE,
)
_MINUS_WORD = re.compile(r"(?:minus|moins)[ ]{1,3}(?=[.,]?[0-9])", re.IGNORECASE)
# Remarks that leave the number as it is; "(million)" or "(per cent)" would change it and isn't here.
_REMARK = re.compile(
    r"(?:rounded|rounded off|approx\.?|approximately|exact|exactly|roughly|ca\.|circa|gerundet|exakt|"
    r"arrondie?)"
    r"(?: to [0-9]{1,2} [a-z]{2,11}(?: [a-z]{2,11})?)?",
    re.IGNORECASE,
)
# Pairs around a whole answer, as spreadsheets, chats and Markdown put them there.
_QUOTES = ('""', "''", "``", "“”", "„“", "‘’", "«»", "$$")
# What the exercises count, in English, German and French. Other words may be units, and are refused.
_COUNTED = re.compile(
    r"(?:step|time|word|token|number|param|parameter|weight|row|column|score|state|vector|product|multiplication|"
    r"addition|op|operation|head|layer|position|sequence|candidate|path|connection|value|key|dimension|dim|unit|"
    r"evaluation|pair|sentence|link)s?|entr(?:y|ies)|matri(?:x|ces)|hypothes[ie]s|quer(?:y|ies)|"
    r"schritte?n?|wort|wörter|gewichte?|zeilen?|spalten?|mal|étapes?|mots?|poids|lignes?|colonnes?|fois",
    re.IGNORECASE,
)


def without_asides(text: str) -> str:
    """Return an answer without the name before it, the remark after it, and the full stop at its end.

    Parameters
    ----------
    text : str
        With usual signs, see :func:`normal_signs`.
    """
    bare = text.strip()
    for quotes in _QUOTES:
        if len(bare) > 2 and bare[0] == quotes[0] and bare[-1] == quotes[1]:
            bare = bare[1:-1].strip()
    bare = _without_end(bare)
    for opening in (_NAME_BEFORE, _ABOUT):
        match = opening.match(bare)
        if match is not None and bare[match.end() :].strip():
            bare = bare[match.end() :].strip()
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
        match = re.fullmatch(r"([0-9]{1,20})([^\W\d_]{2,16})", text)
        head, word = match.groups() if match is not None else ("", "")
    return head.rstrip() if head and _COUNTED.fullmatch(word) else text


# What is copied from elsewhere: LaTeX, tables, printed numpy numbers, powers of ten.

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
# On one line, and without anything that the patterns above look for.
_BARE_NUMBERS = re.compile(r"[0-9eE.,+\-/ \[\]()]*+")
# A list's bullet has a blank after it; a minus sign next to its number has none.
_BULLET = re.compile(r"[-*•]\s++(?=[+\-.0-9\[(])")


def unpasted(text: str) -> str:
    """Return an answer without the notation of what it was copied from.

    Parameters
    ----------
    text : str
        With usual signs, see :func:`normal_signs`.

    Raises
    ------
    ResponseFormatError
        Every line begins with a dash that can be a list's or a minus sign.
    """
    if _BARE_NUMBERS.fullmatch(text):
        return text.strip()
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
    # Angle brackets around a vector, as mathematicians write them; the reader knows round and square ones.
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
    for _ in range(3):  # \boxed{\mathbf{\hat{y}}}; nobody nests deeper
        plain = _WRAPPED.sub(r" \1 ", plain)
    # Any Greek letter will do: it is part of a name before "=", which is taken off later.
    plain = _GREEK.sub("α", plain)
    return re.sub(r"\\(?:approx|simeq)(?![a-zA-Z])", "≈", plain).replace("&", " , ").strip()


def _as_exponent(power: re.Match[str]) -> str:
    exponent = next(group for group in power.groups()[1:] if group is not None)
    return f"{power[1]}e{exponent.translate(_RAISED)}"


def _as_quotient(vulgar: re.Match[str]) -> str:
    above, _, below = unicodedata.normalize("NFKC", vulgar[2]).partition("\u2044")
    if not below.isdigit():  # ⅟ has nothing below it
        return vulgar[0]
    return f"{int(vulgar[1] or 0) * int(below) + int(above)}/{below}"


def _without_bars(lines: list[str]) -> list[str]:
    """Return the rows of a table with bars between its cells, without its rule and a head without numbers."""
    rules = [i for i, line in enumerate(lines) if "|-" in line and _RULE.fullmatch(line)]
    if rules:
        has_head = not any(c.isdigit() for line in lines[: rules[0]] for c in line)
        lines = [line for i, line in enumerate(lines) if i not in rules and not (has_head and i < rules[0])]
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
