"""What people write around an answer: a name before it, a remark behind it, what was counted, quotes.

Only what can't change the number is taken away.  ``30 (million)`` and ``5 %`` keep their words, and are
refused later.
"""

from __future__ import annotations

import re

__all__ = ["without_asides", "without_count_word"]

_LABEL = re.compile(
    r"(?:[^\W\d_]{1,12}[0-9₀-₉]{0,2}|[^\W\d_]{1,12}_(?:\w{1,3}|\{\w{1,3}\}))"
    r"(?:\^?[(⁽][^\W\d]{1,2}[)⁾]|\^?[ᵀ⁽ᵗ⁾]{1,3})?[ ]{0,3}(?:=|:=|:|≈)(?![=])"
)
_ABOUT = re.compile(
    r"(?:≈|~|∼|≃|=|approx\.?|approximately|about|ca\.|circa|ungefähr|etwa|rund|environ|env\.)(?=[\s+\-.0-9\[(])",
    re.IGNORECASE,
)
_MINUS = re.compile(r"(?:minus|moins)[ ]{1,3}(?=[.,]?[0-9])", re.IGNORECASE)
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
        With usual signs, see :func:`engine.answers.reading.numeral.normal_signs`.
    """
    bare = text.strip()
    for quotes in _QUOTES:
        if len(bare) > 2 and bare[0] == quotes[0] and bare[-1] == quotes[1]:
            bare = bare[1:-1].strip()
    bare = _without_end(bare)
    for opening in (_LABEL, _ABOUT):
        found = opening.match(bare)
        if found is not None and bare[found.end() :].strip():
            bare = bare[found.end() :].strip()
    bare = _MINUS.sub("-", bare, count=1) if _MINUS.match(bare) else bare
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
