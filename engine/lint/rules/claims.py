"""What texts say of a variant's numbers is true of them: signs, sums, counts, and how many numbers there are.

Three kinds of sentence are looked at, in every variant that shows them:

* feedback on an option or card that shows numbers (``One is negative``, ``They sum to 2``), against these;
* feedback of a known mistake (``they no longer sum to 1``, ``These are …``), against what the mistake gives;
* words that the item declares in ``claims``, against the expression beside them.

Whatever else counts signs must be declared, or stand in an ``{% if … %}``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from engine.errors import SoftmarkError
from engine.lint.finding import Finding
from engine.lint.rules.prose import texts_of
from engine.lint.subject import Subject
from engine.lint.texts import Written, written_texts
from engine.model import KnownWrong, Option, Part, Variant

__all__ = ["check", "says_of_numbers", "says_of_value"]

RULE = "claims"
_COUNTS = {"no": 0, "none": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_VECTOR = re.compile(r"\[(-?\d[^\[\]]*)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SOME = r"(?:of (?:them|these|the \w+) |entry |number |score |weight )?"
_SIGNED = re.compile(rf"\b(no|none|one|two|three|four|five) {_SOME}(?:is|are) (negative|positive)\b", re.I)
_ALL = re.compile(r"\b(not all|all)\b[\w ]{0,24}? are (negative|positive)\b", re.I)
_HAS = re.compile(r"\b(?:has|have|holds?) an? (negative|positive)\b", re.I)
_SUM = re.compile(r"\b(?<!nothing makes them )(?<!n't )sum to (-?\d+(?:\.\d+)?)\b", re.I)
_NO_SUM = re.compile(r"(?:no longer|n't|not) sum to 1\b", re.I)
_EQUAL = re.compile(r"\bthese \w+ are all equal\b", re.I)
_REVERSED = re.compile(r"\blargest score got the smallest weight\b", re.I)
_SEVERAL = re.compile(r"^(?:These|Those|They)\b")
# sentences that are of a kind and not of these numbers: what may be, would be, or is a rule
_GENERAL = re.compile(r"\b(?:may|might|can|could|would|if|whatever|softmax|exponentials?)\b", re.I)
# each begins anew only where another one begins, so that a text of openings alone is read once
_CHOSEN = re.compile(r"\{%-? if (?:(?!\{%-? (?:if|endif)).)*+\{%-? endif -?%\}", re.DOTALL)
_FILLED_IN = re.compile(
    r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}|\$[^$]*+\$", re.DOTALL
)
_CLOSE = 0.011  # numbers are shown with two decimals or more


def check(subject: Subject) -> Iterator[Finding]:
    """Yield each sentence that is false in some variant, and each that nothing vouches for."""
    if subject.is_code:
        return
    seen: set[str] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            for message in _of_part(part):
                if message not in seen:
                    seen.add(message)
                    yield subject.fault(RULE, message, subject.loc_of(part.id), seed=seed)
    yield from _declared(subject)
    yield from _undeclared(subject)


# --- against the numbers shown -------------------------------------------------------------


def _of_part(part: Part) -> Iterator[str]:
    for option in (*part.options, *part.prompts):
        yield from _of_option(option)
    for known in part.known_wrong:
        for what in says_of_value(known.feedback, known, part):
            yield f"the feedback of {known.misconception} isn't true: {what}"


def _of_option(option: Option) -> Iterator[str]:
    shown = [_NUMBER.findall(found) for found in _VECTOR.findall(option.text.plain)]
    if len(shown) == 1:
        for what in says_of_numbers(option.feedback, [float(number) for number in shown[0]]):
            yield f"the feedback of {option.text.plain[:60]!r} isn't true: {what}"


def says_of_numbers(sentence: str, numbers: Sequence[float]) -> Iterator[str]:
    """Yield what a text says of some numbers and isn't so."""
    for match in _SIGNED.finditer(sentence):
        if (count := _how_many(numbers, match[2])) != _COUNTS[match[1].lower()]:
            yield f"{match[0]!r}, but {count} of them are"
    for match in _ALL.finditer(sentence):
        every = _how_many(numbers, match[2]) == len(numbers)
        if every is (match[1].lower() == "not all"):
            yield f"{match[0]!r}"
    for match in _HAS.finditer(sentence):
        if not _how_many(numbers, match[1]):
            yield f"{match[0]!r}, but none is there"
    for match in _SUM.finditer(sentence.split(". ")[0]):
        if abs(sum(numbers) - float(match[1])) > _CLOSE:
            yield f"{match[0]!r}, but the sum is {sum(numbers):g}"


def _how_many(numbers: Sequence[float], sign: str) -> int:
    return sum(number < 0 if sign.lower() == "negative" else number > 0 for number in numbers)


def says_of_value(sentence: str, known: KnownWrong, part: Part) -> Iterator[str]:
    """Yield what the feedback of a known mistake says of its value and isn't so."""
    if known.value is None or part.key is None:
        return
    wrong, right = known.value.data, part.key.data
    if part.type == "number" and (match := _SEVERAL.match(sentence)):
        yield f"{match[0]!r}, but the answer is one number"
    if len(known.value.shape) != 1 or not part.settings.get("simplex"):
        return
    if _NO_SUM.search(sentence) and abs(sum(wrong) - 1) < 1e-6:
        yield "they do sum to 1"
    if _EQUAL.search(sentence) and max(wrong) - min(wrong) > 1e-9:
        yield "they aren't all equal"
    if _REVERSED.search(sentence) and wrong.index(min(wrong)) != right.index(max(right)):
        yield "another weight is the smallest"


# --- declared and undeclared ---------------------------------------------------------------


def _declared(subject: Subject) -> Iterator[Finding]:
    claims = subject.spec.claims
    sources = [" ".join(written.text.split()) for written in written_texts(subject.spec)]
    for index, claim in enumerate(claims):
        words = " ".join(claim.says.split())
        loc = ("claims", index, "says")
        if not any(words in text for text in sources):
            yield subject.fault(RULE, f"no text of the item says {words!r}", loc)
            continue
        for seed, variant in enumerate(subject.variants):
            if words in _shown(variant) and not _holds(subject, variant, claim.holds):
                message = f"the text says {words!r}, and that isn't so here"
                yield subject.fault(RULE, message, loc, expected=claim.holds, seed=seed)
                break


def _shown(variant: Variant) -> str:
    """Return all that a variant may say, as plain text."""
    texts = [text.plain for _, text in texts_of(variant)]
    for part in variant.parts:
        texts += [option.feedback for option in (*part.options, *part.prompts)]
        texts += [known.feedback for known in part.known_wrong]
        texts.append(str(part.settings.get("feedback") or ""))
    return " ".join(" ".join(texts).split())


def _holds(subject: Subject, variant: Variant, expression: str) -> bool:
    from engine.variants.expressions import evaluate, evaluate_truth
    from engine.variants.values import names_of

    names: dict[str, Any] = dict(names_of(variant.values))
    for name, text in subject.spec.derived.items():
        names[name] = evaluate(text, names)
    for name, answer in subject.spec.answers:
        if (key := getattr(answer, "key", None)) is not None:
            names["key" if name == "answer" else name] = evaluate(key, names)
    try:
        return evaluate_truth(expression, names)
    except SoftmarkError:
        return False


def _undeclared(subject: Subject) -> Iterator[Finding]:
    """Yield sentences that count signs in drawn numbers, where nothing says when they are true."""
    spec = subject.spec
    if all(parameter.kind == "fixed" for parameter in spec.parameters.values()):
        return
    declared = [" ".join(claim.says.split()) for claim in spec.claims]
    for written in written_texts(spec):
        if written.kind not in ("feedback", "hint", "solution") or _is_guarded(written, subject):
            continue
        for sentence in _literal_sentences(written.text):
            if _GENERAL.search(sentence) or any(words in sentence for words in declared):
                continue
            if match := _SIGNED.search(sentence) or _ALL.search(sentence) or _HAS.search(sentence):
                yield subject.warning(
                    RULE,
                    f"nothing says for which numbers this is true: {match[0]!r}",
                    written.loc,
                    got=sentence[:100],
                    next_step="declare it in claims:, or choose the words with {% if … %}",
                )


def _is_guarded(written: Written, subject: Subject) -> bool:
    """Tell whether a text is held against the numbers of its own option, or shown only where that says so."""
    if written.loc[-1] != "feedback":
        return False
    entry: Any = subject.document.data if subject.document else None
    for step in written.loc[:-1]:
        try:
            entry = entry[step]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(entry, dict) and ("when" in entry or "{{" in str(entry.get("text", "")))


def _literal_sentences(text: str) -> list[str]:
    """Return the sentences of a text that stand there for all numbers: without what an `if` chooses."""
    chosen = _CHOSEN.sub("…", _CHOSEN.sub("…", text))  # twice: an `if` may stand in another
    literal = _FILLED_IN.sub("…", chosen)
    literal = " ".join(literal.split())
    return re.split(r"(?<=[.!?;])\s+", literal)
