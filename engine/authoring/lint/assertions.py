"""What sentences assert about numbers: sums and comparisons, and words that need a witness.

``0.3 > 0.5`` is false whatever it is about. ``The second score is the largest`` is true only of some drawn
numbers: the words alone can't be checked, so the item must state when they are true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

_PLAIN = r"[-−+]?\d+(?:\.\d+)?"
_OPERAND = rf"(?:{_PLAIN}|\({_PLAIN}\))"
_SIDE = rf"{_OPERAND}(?: *[-+−·×*/] *{_OPERAND})*"
_IN_WORDS = {
    "is larger than": ">", "is greater than": ">", "is more than": ">", "is above": ">", "lies above": ">",
    "exceeds": ">", "is smaller than": "<", "is less than": "<", "is below": "<", "lies below": "<",
    "equals": "=",
}  # fmt: skip
_RELATION = rf"(?:[<>≤≥=≈]|{'|'.join(_IN_WORDS)})"
_CHAIN = re.compile(
    rf"(?<![\w.^√(\[/·×*+−⁰¹²³⁴-⁹-]){_SIDE}(?: *{_RELATION} *{_SIDE})+(?![\w.]*\d|[\w(\[^⁰¹²³⁴-⁹%!])"
)
# something before the first number makes another number of it: log 2, x + 2, e^2
_BEFORE = re.compile(
    r"(?:[-+−·×*/^√,]|\b(?:log|ln|exp|tanh|sin|cos|sigmoid|softmax|sqrt|max|min)[₀-₉\d]*|\b[A-Za-zα-ω][₀-₉\d]?) *$"  # noqa: E501
)
_AFTER = re.compile(r" *(?:[-+−·×*/^√]|\.\.\.|…)(?! *$)")
_SENTENCE_END = re.compile(r"(?<=[.!?;]) |\n")
_LONGEST = 300  # characters: no sentence with a sum is longer
_SPLIT = re.compile(rf" *({_RELATION}) *")
_TOKEN = re.compile(rf"{_OPERAND}|[-+−·×*/]")

Span = tuple[Decimal, Decimal]


def is_true_of_numbers(text: str) -> bool | None:
    """Return whether a text that is only a sum or comparison of numbers is true; None for other texts."""
    whole = text.strip().rstrip(".")
    match = _CHAIN.fullmatch(whole) if len(whole) <= _LONGEST else None
    if match is None:
        return None
    truths = [_truth(*pair) for pair in _pairs(match[0])]
    if False in truths:
        return False
    return None if None in truths else True


def false_statements(text: str) -> Iterator[str]:
    """Yield sums and comparisons in a text that are false of the numbers that stand there."""
    for sentence in _SENTENCE_END.split(text):
        for match in _CHAIN.finditer(sentence) if len(sentence) <= _LONGEST else ():
            if _BEFORE.search(sentence[max(0, match.start() - 12) : match.start()]):
                continue
            if _AFTER.match(sentence, match.end()):
                continue
            for first, relation, second in _pairs(match[0]):
                if _truth(first, relation, second) is False:
                    yield f"{first} {relation} {second}"


def _pairs(chain: str) -> Iterator[tuple[str, str, str]]:
    pieces = _SPLIT.split(chain)
    for index in range(0, len(pieces) - 2, 2):
        yield pieces[index], pieces[index + 1], pieces[index + 2]


def _truth(first: str, relation: str, second: str) -> bool | None:
    """Return whether a relation holds; decimals may be rounded, so that what they leave open is None."""
    (low, high), (low_too, high_too) = _span(first), _span(second)
    mark = _IN_WORDS.get(relation, relation)
    if mark in "<≤":
        return True if high < low_too else False if low > high_too else None
    if mark in ">≥":
        return True if low > high_too else False if high < low_too else None
    if high < low_too or low > high_too:
        is_near = abs(low - low_too) <= max(abs(low), abs(low_too)) / 20  # what texts call about equal
        return None if mark == "≈" and is_near else False
    return True if low == high == low_too == high_too else None


def _span(side: str) -> Span:
    """Return the bounds of a side: products first, then sums; a decimal stands for what rounds to it."""
    tokens = [token.strip("()") for token in _TOKEN.findall(side)]
    terms: list[Span] = []
    sign, operator, value = "+", "", _of_number(tokens[0])
    rest = tokens[1:]
    # "2 -3" is read as 2 and -3 where a sign touches its number: that is a difference
    while rest:
        token = rest.pop(0)
        if token in "+-−":
            terms.append(_signed(value, sign))
            sign, value = token, _of_number(rest.pop(0))
        elif token in "·×*/":
            operator = token
            factor = _of_number(rest.pop(0))
            value = _quotient(value, factor) if operator == "/" else _product(value, factor)
        else:
            terms.append(_signed(value, sign))
            sign, value = "+", _of_number(token)
    terms.append(_signed(value, sign))
    return sum((low for low, _ in terms), Decimal(0)), sum((high for _, high in terms), Decimal(0))


def _of_number(text: str) -> Span:
    number = Decimal(text.replace("−", "-"))
    places = len(text.partition(".")[2])
    half = Decimal(1).scaleb(-places) / 2 if places else Decimal(0)
    return number - half, number + half


def _signed(span: Span, sign: str) -> Span:
    return span if sign == "+" else (-span[1], -span[0])


def _product(a: Span, b: Span) -> Span:
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _quotient(a: Span, b: Span) -> Span:
    if b[0] <= 0 <= b[1]:
        return Decimal("-Infinity"), Decimal("Infinity")
    ends = [x / y for x in a for y in b]
    return min(ends), max(ends)


_NOUN = (
    r"(?:score|weight|entry|entrie|state|key|value|row|column|position|word|token|number|vector|probability|"
    r"probabilitie|exponential|difference|factor|product|query|querie|head|one|component|coordinate|logit)s?"
)
_ORD = r"(?:first|second|third|fourth|fifth|last|middle)"
_ONE_OF = rf"(?:(?:the|its) {_ORD}(?: {_NOUN})?|(?:{_NOUN}) (?:number )?(?:\d|one|two|three|four)|…(?= (?:is|are|has|gets|lies|wins)\b))"  # noqa: E501
_COUNT = r"(?:exactly |only |just |at least |at most )?(?:no|none|one|two|three|four|five|both|some|each|every|all|a|an)"  # noqa: E501
_VERB = r"(?:is|are|was|has|have|gets?|receives?|carries|lies?|wins?|weighs?|takes?|dominates?|must be|will be|being)"  # noqa: E501
_DEGREE = (
    r"(?:largest|smallest|greatest|biggest|highest|lowest|larger|smaller|greater|bigger|higher|lower|"
    r"more(?! general)|most|least|less|fewer|twice|half|double|equal|negative|positive|tiny|huge|"
    r"dominant|negligible|nearly|very (?:small|large))"
)
_SUPERLATIVE = r"(?:largest|smallest|greatest|biggest|highest|lowest)"
_SIGN = r"(?:negative|positive|zero|(?:below|under|above|less than|greater than|smaller than|larger than|more than) (?:0|zero|1|one)\b)"  # noqa: E501
_WITNESSED: tuple[re.Pattern[str], ...] = (
    # the second score is the largest; position 2 gets most of it
    re.compile(rf"{_ONE_OF}[^.;:!?…▪]{{0,30}}?\b{_VERB}\b[^.;:!?]{{0,40}}?\b{_DEGREE}\b", re.I),
    # the largest score is the first one; the largest weight stands at position 2
    re.compile(
        rf"\b{_SUPERLATIVE}(?: {_NOUN})?(?: of (?:the )?\w+)? (?:is|stands|lies|belongs|goes|sits)(?: in| at| to)?"  # noqa: E501
        rf"(?: the| that of the)? (?:{_ORD}\b|(?:position|number|row|column|state|word|token|key) \d)",
        re.I
    ),
    re.compile(rf"\b{_SUPERLATIVE} {_NOUN}(?:, …,| …)", re.I),
    re.compile(rf"\b{_SUPERLATIVE}(?: {_NOUN})?, which is the {_ORD}\b", re.I),
    re.compile(rf"\b(?:the|its) (?:first|last) (?:two|three|four) {_NOUN} (?:are|have|differ)\b", re.I),
    # more than half of it; the scores rise from left to right; they differ by 1
    re.compile(r"\b(?:more|less) than (?:one )?(?:half|a third|a quarter|a tenth|two thirds) (?:of|goes)\b", re.I),  # noqa: E501
    re.compile(rf"\bthe {_NOUN} (?:rise|fall|grow|increase|decrease|alternate)\b", re.I),
    re.compile(r"\bdiffer(?:s)? by (?:only )?(?:\d|one|two|three)\b", re.I),
    # there are two negative scores; the negative score
    re.compile(rf"\bthere (?:is|are) {_COUNT} (?:negative|positive) {_NOUN}", re.I),
    re.compile(rf"\bthe (?:(?:only|one|two|three) )?(?:negative|positive) {_NOUN}", re.I),
    # exactly one score lies below 0; every score is positive; the scores are negative; e_2 is negative
    re.compile(
        rf"\b{_COUNT} (?:of (?:the|these|them|those) ?)?(?:{_ORD} )?(?:(?:scores?|entr(?:y|ies)|numbers?|values?|"  # noqa: E501
        rf"products?|states?|keys?|components?|coordinates?|logits?|differences?) )?(?:is|are|lies?) {_SIGN}",
        re.I
    ),
    re.compile(r"\bthe (?:scores|entries|numbers|values|products|differences|logits) are (?:all )?(?:negative|positive)", re.I),  # noqa: E501
    # a hidden weight is 0 whatever the numbers are, a score isn't
    re.compile(rf"\b{_ORD} (?:score|entry|number|component|product|difference) is (?:0\b|zero\b)", re.I),
    re.compile(rf"§ (?:is|are) (?:the {_SUPERLATIVE}|negative|positive|zero|even|odd)\b", re.I),
    re.compile(r"\b(?:as|since|because) (?:\w{1,3}|§) is (?:even|odd|a (?:square|power))\b", re.I),
    # the right score is 17; the score lies between 10 and 20
    re.compile(r"\b(?:right|correct|true) (?:\w+ )?(?:is|are|would be) (?:about )?-?\d", re.I),
    re.compile(rf"\bthe {_NOUN} (?:is|are|lies?) between -?\d[\d.]* and -?\d", re.I),
)  # fmt: skip
_WITNESSED += (
    # state 3 dominates; the first two are alike; it is the smallest one
    re.compile(
        rf"{_ONE_OF}[^.;:!?…▪]{{0,12}}?\b(?:wins|dominates|beats|exceeds|outweighs|leads|vanishes)\b", re.I
    ),
    re.compile(rf"{_ONE_OF} (?:gets?|has|have|receives?) (?:hardly any|almost|nearly)\b", re.I),
    re.compile(rf"\bthe {_ORD} and (?:the )?{_ORD}\b[^.;:!?]{{0,12}} (?:are|have|differ|weigh)\b", re.I),
    re.compile(rf"(?:\b[Ii]ts|\b[Tt]heir|\b[Tt]hat) {_NOUN}, …, is\b", re.I),
    re.compile(
        r"\bmost of (?:the|its) (?:weight|attention|mass|probability) (?:lies|goes|is|falls|sits)\b", re.I
    ),
    re.compile(r"\ball but (?:one|two) of (?:the|them|these)\b", re.I),
    re.compile(r"\b(?:have|has|of) (?:different|opposite|mixed|the same) signs?\b", re.I),
    re.compile(rf"\bthe (?:sum|mean|total) (?:of \w+(?: \w+)? )?is (?:{_SIGN}|large|small)\b", re.I),
    re.compile(
        r"(?<!of the )(?<!of these )\b(?:no|one|two|each|every|both) (?:score|weight|entry|product|probability)s? (?:is|are|lies?) "  # noqa: E501
        r"(?:above|below|larger than|smaller than|more than|less than|at least|at most)\b",
        re.I,
    ),
)
# a condition, a possibility, or a question
_CONDITIONAL = re.compile(
    r"\b(?:if|when|whenever|where|unless|suppose|would|could|might|may|whatever|can|as long as)\b|\?", re.I
)


def needs_a_witness(sentence: str) -> str | None:
    """Return the words of a sentence that are true only of some drawn numbers, or None.

    Parameters
    ----------
    sentence : str
        Without what an ``{% if %}`` chooses; ``…`` stands for a drawn value, ``§`` for a formula, and ``▪``
        for something computed, such as the largest score.
    """
    if _CONDITIONAL.search(sentence):
        return None
    matches = (pattern.search(sentence) for pattern in _WITNESSED)
    return next((match[0] for match in matches if match), None)
