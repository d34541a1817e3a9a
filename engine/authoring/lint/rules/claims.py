"""What texts say about a variant's numbers is true of them: signs, sums, and how many there are.

Three kinds of sentence are checked in every variant that shows them:

* feedback on an option or card with numbers (``One is negative``, ``They sum to 2``), against these numbers;
* feedback of a known mistake (``they no longer sum to 1``), against what the mistake gives;
* words that the item declares in ``claims``, against the expression beside them.

Other sentences that hold only for some numbers must be declared, or stand in an ``{% if … %}``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

from engine.answers.asked_precision import NumericSettings
from engine.answers.ordering import OrderingSettings
from engine.authoring.lint.assertions import false_statements, needs_a_witness
from engine.authoring.lint.rules.rendered_text import texts_of
from engine.authoring.lint.subject import (
    NUMBER_WORDS,
    TEMPLATE_BLOCK,
    TEMPLATE_SPAN,
    LintFinding,
    LintSubject,
    StudentText,
    written_texts,
)
from engine.errors import SoftmarkError
from engine.model import ChoiceOption, KnownWrong, Part, Variant
from engine.text.yaml_errors import Loc

_COUNTS = {"no": 0, "none": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_VECTOR = re.compile(r"\[(-?\d[^\[\]]*)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_SUBSET = r"(?:of (?:them|these|the \w+) |entry |number |score |weight )?"
_SIGNED = re.compile(rf"\b(no|none|one|two|three|four|five) {_SUBSET}(?:is|are) (negative|positive)\b", re.I)
_ALL = re.compile(r"\b(not all|all)\b[\w ]{0,24}? are (negative|positive)\b", re.I)
_HAS = re.compile(r"\b(?:has|have|holds?) an? (negative|positive)\b", re.I)
_SUM = re.compile(
    r"\b(?<!nothing makes them )(?<!no longer )(?<!n't )(?<!not )sum to (-?\d+(?:\.\d+)?)\b", re.I
)
_NO_SUM = re.compile(r"(?:no longer|n't|not) sum to 1\b", re.I)
_EQUAL = re.compile(r"\bthese \w+ are all equal\b", re.I)
_REVERSED = re.compile(r"\blargest score got the smallest weight\b", re.I)
_OF_THESE = re.compile(r"^(?:These|Those|They|Your)\b[^.;]*$")
_SUBJECT = r"^(?:This|It|Your (?:answer|number|value|result)|You)(?: (?:number|value|result|score|answer|sum))? (?:is|are) "  # noqa: E501
_THE_RIGHT = r"(?:the|what is) (?:right|correct) (?:\w+)"
_THE_ANSWER = rf"(?:it|{_THE_RIGHT}|the (?:answer|score|result|key|number|value))\b"
_FACTORS = {"twice": 2.0, "double": 2.0, "half": 0.5, "a third": 1 / 3, "a quarter": 0.25, "three times": 3.0}
_AMOUNT = r"(\d+(?:\.\d+)?|one|two|three)"
_LARGE, _SMALL = r"(?:large|big|high|much|many)", r"(?:small|low|little|few)"
_near = math.isclose
# what feedback says of a wrong answer x beside the key, and when that is true; n is the number that it names
_STATEMENTS: tuple[tuple[str, Callable[[float, float, float], bool]], ...] = (
    (
        rf"{_SUBJECT}(?:exactly )?({'|'.join(_FACTORS)}) (?:of )?{_THE_ANSWER}",
        lambda x, key, n: _near(x, n * key),
    ),
    (rf"{_SUBJECT}{_AMOUNT} times {_THE_ANSWER}", lambda x, key, n: _near(x, n * key)),
    (rf"{_SUBJECT}{_AMOUNT} (?:more|larger) than {_THE_ANSWER}", lambda x, key, n: _near(x, key + n)),
    (rf"{_SUBJECT}{_AMOUNT} (?:less|smaller) than {_THE_ANSWER}", lambda x, key, n: _near(x, key - n)),
    (rf"{_SUBJECT}{_AMOUNT} too {_LARGE}\b", lambda x, key, n: _near(x, key + n)),
    (rf"{_SUBJECT}{_AMOUNT} too {_SMALL}\b", lambda x, key, n: _near(x, key - n)),
    (r"\boff by (one|1)\b", lambda x, key, n: _near(abs(x - key), n)),
    (rf"{_SUBJECT}too {_LARGE}\b", lambda x, key, n: x > key),
    (rf"{_SUBJECT}too {_SMALL}\b", lambda x, key, n: x < key),
    (rf"{_SUBJECT}(?:larger|greater|more) than {_THE_ANSWER}", lambda x, key, n: x > key),
    (rf"{_SUBJECT}(?:smaller|less) than {_THE_ANSWER}", lambda x, key, n: x < key),
    (rf"{_SUBJECT}(?:larger|greater|more) than {_AMOUNT}\b", lambda x, key, n: x > n),
    (rf"{_SUBJECT}(?:smaller|less) than {_AMOUNT}\b", lambda x, key, n: x < n),
    (rf"{_SUBJECT}negative\b", lambda x, key, n: x < 0),
    (rf"{_SUBJECT}positive\b", lambda x, key, n: x > 0),
    (r"^\w+(?: \w+)? has the (?:opposite|wrong|other) sign\b", lambda x, key, n: x * key < 0),
    (
        rf"(?:{_THE_RIGHT}|the (?:answer|score|result)) with the (?:opposite|wrong|other) sign\b",
        lambda x, key, n: _near(x, -key),
    ),
)
_BESIDE_THE_KEY = tuple((re.compile(pattern, re.I), holds) for pattern, holds in _STATEMENTS)
_SEVERAL = re.compile(r"^(?:These|Those|They)\b")
# sentences about numbers of a kind, not about these: what may be, would be, or is a rule
_GENERAL = re.compile(r"\b(?:may|might|can|could|would|if|whatever|softmax|exponentials?)\b", re.I)
# no match spans another opening, so that a text of openings alone is read in linear time
_CHOSEN = re.compile(r"\{%-? if (?:(?!\{%-? (?:if|endif)).)*+\{%-? endif -?%\}", re.DOTALL)
_FORMULA = re.compile(r"\$\$?([^$]*+)\$\$?")
_MARKS = {"…": "…", "▪": "▪"}
_DISPLAYS = frozenset({"tex", "vec", "col", "mat", "num", "dec", "par"})
_CALL = re.compile(r"\b([A-Za-z_]\w*)\(")
_NAME = re.compile(r"\b[A-Za-z_]\w*")
_SIZE = re.compile(
    rf"(?<![\w.,-])(\d{{1,2}}|{'|'.join(NUMBER_WORDS[2:])}) (?:(?:encoder|decoder|alignment|attention|source|hidden|weighted) )?"  # noqa: E501
    r"(?:states|scores|weights|positions|words|tokens|entries|numbers|exponentials|rows|columns|keys|values|queries|"
    r"vectors|products|terms|components)\b|\b1/(\d{1,2})\b(?! of)",
    re.I,
)
_SET = re.compile(
    r"\b(?:[Ss]ince|[Aa]s|[Bb]ecause|[Hh]ere)\b[^.;]{0,20}?(?<![\w}^_+*/-])([A-Za-z]\w*) ?= ?(-?\d+(?:\.\d+)?)(?![\w.]*\d| ?[+*/^-])"  # noqa: E501
)
_TELLING = ("feedback", "hint", "solution", "option")
_CLOSE = 0.011  # numbers are shown with two decimals or more


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield each sentence that is false in some variant, and each that nothing shows to be true."""
    if subject.is_code:
        return
    reported: set[str] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            for message in _of_part(part):
                # one finding for a sentence: the numbers behind "but" differ by variant
                if (kind := message.partition(", but ")[0]) not in reported:
                    reported.add(kind)
                    yield subject.fault(message, subject.loc_of(part.id), seed=seed)
    yield from _false(subject)
    yield from _declared(subject)
    yield from _undeclared(subject)
    yield from _sized(subject)


def _of_part(part: Part) -> Iterator[str]:
    for option in (*part.options, *part.prompts):
        yield from _of_option(option)
    for mistake in part.known_wrong:
        for claim in says_of_value(mistake.feedback, mistake, part):
            yield f"the feedback of {mistake.misconception} isn't true: {claim}"


def _of_option(option: ChoiceOption) -> Iterator[str]:
    vectors = [_NUMBER.findall(match) for match in _VECTOR.findall(option.text.plain)]
    if len(vectors) == 1:  # with two vectors nobody knows of which one the sentence speaks
        for claim in says_of_numbers(option.feedback, [float(number) for number in vectors[0]]):
            yield f"the feedback of {option.text.plain[:60]!r} isn't true: {claim}"


def says_of_numbers(sentence: str, numbers: Sequence[float]) -> Iterator[str]:
    """Yield the statements of a text about some numbers that are false."""
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


def says_of_value(sentence: str, mistake: KnownWrong, part: Part) -> Iterator[str]:
    """Yield the statements in the feedback of a known mistake that are false of its value."""
    if mistake.value is None or part.key is None:
        return
    wrong, right = mistake.value.data, part.key.data
    if part.type == "number" and (match := _SEVERAL.match(sentence)):
        yield f"{match[0]!r}, but the answer is one number"
    for match in _SUM.finditer(sentence):
        if _OF_THESE.match(sentence[: match.start()]) and abs(sum(wrong) - float(match[1])) > _CLOSE:
            yield f"{match[0]!r}, but the sum is {sum(wrong):.4g}"
    if mistake.value.shape == part.key.shape:
        yield from _against_the_key(sentence, wrong, right)
    if len(mistake.value.shape) != 1 or not NumericSettings.of(part).simplex:
        return
    if _NO_SUM.search(sentence) and abs(sum(wrong) - 1) < 1e-6:
        yield "they do sum to 1"
    if _EQUAL.search(sentence) and max(wrong) - min(wrong) > 1e-9:
        yield "they aren't all equal"
    if _REVERSED.search(sentence) and wrong.index(min(wrong)) != right.index(max(right)):
        yield "another weight is the smallest"


def _against_the_key(sentence: str, mistaken: Sequence[float], right: Sequence[float]) -> Iterator[str]:
    pairs = list(zip(mistaken, right, strict=True))
    for pattern, holds in _BESIDE_THE_KEY:
        match = pattern.search(sentence)
        # of a vector the statement must hold for every entry
        if match and not all(holds(*pair, _number_named(match)) for pair in pairs):
            yield f"{match[0]!r}, but for the right answer {_numbers_text(right)} the mistake gives {_numbers_text(mistaken)}"  # noqa: E501


def _number_named(match: re.Match[str]) -> float:
    word = match[1].lower() if match.re.groups else "0"
    return _FACTORS[word] if word in _FACTORS else float(_COUNTS.get(word) or word)


def _numbers_text(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers[:4])


def _false(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield false sums and comparisons of numbers, in texts that must be true."""
    reported: set[Loc] = set()
    for seed, variant in enumerate(subject.variants):
        for loc, text in _vouched(variant):
            if loc not in reported and (false := next(false_statements(text), None)) is not None:
                reported.add(loc)
                yield subject.fault(f"the text says {false!r}, and that isn't so", loc, seed=seed)


def _vouched(variant: Variant) -> Iterator[tuple[Loc, str]]:
    """Yield the texts of a variant that must be true; a wrong option may say anything."""
    for loc, text in texts_of(variant):
        if loc[:1] in (("stem",), ("hints",), ("solution",)):
            yield loc, text.plain
    for index, part in enumerate(variant.parts):
        loc = ("answer",) if part.id == "answer" else ("steps", index)
        for feedback in (
            *(o.feedback for o in (*part.options, *part.prompts)),
            *(k.feedback for k in part.known_wrong),
        ):
            yield (*loc, "feedback"), feedback


def _declared(subject: LintSubject) -> Iterator[LintFinding]:
    claims = subject.spec.claims
    sources = [" ".join(written.text.split()) for written in written_texts(subject.spec)]
    for index, claim in enumerate(claims):
        words = " ".join(claim.says.split())
        loc = ("claims", index, "says")
        if not any(words in text for text in sources):
            yield subject.fault(f"no text of the item says {words!r}", loc)
            continue
        for seed, variant in enumerate(subject.variants):
            if words in _all_texts(variant) and not _holds(subject, variant, claim.holds):
                message = f"the text says {words!r}, and that isn't so here"
                yield subject.fault(message, loc, expected=claim.holds, seed=seed)
                break


def _all_texts(variant: Variant) -> str:
    texts = [text.plain for _, text in texts_of(variant)]
    for part in variant.parts:
        texts += [option.feedback for option in (*part.options, *part.prompts)]
        texts += [mistake.feedback for mistake in part.known_wrong]
        texts.append(OrderingSettings.of(part).feedback or "")
    return " ".join(" ".join(texts).split())


def _holds(subject: LintSubject, variant: Variant, expression: str) -> bool:
    from engine.expressions.language import evaluate, evaluate_truth
    from engine.expressions.values import names_of

    names: dict[str, Any] = dict(names_of(variant.values))
    for name, text in subject.spec.derived.items():
        names[name] = evaluate(text, names)
    for name, answer in subject.spec.answers:
        if (key := getattr(answer, "key", None)) is not None:
            names["key" if name == "answer" else name] = evaluate(key, names)
    try:
        return evaluate_truth(expression, names)
    except SoftmarkError:
        return False  # an expression that fails shows nothing to be true


def _undeclared(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield sentences that are true only of some drawn numbers, where nothing tells of which."""
    spec = subject.spec
    if all(parameter.kind == "fixed" for parameter in spec.parameters.values()):
        return
    declared = [" ".join(claim.says.split()) for claim in spec.claims]
    for written in written_texts(spec):
        if written.kind not in _TELLING or _is_guarded(written, subject):
            continue
        for sentence in _literal_sentences(written.text, spec.parameters):
            if any(words in sentence for words in declared):
                continue
            if (words := _unvouched(sentence)) is not None:
                message = f"nothing says for which numbers this is true: {words!r}"
                step = "declare it in claims:, or choose the words with {% if … %}"
                yield subject.warning(message, written.loc, got=sentence[:100], next_step=step)


def _unvouched(sentence: str) -> str | None:
    if not _GENERAL.search(sentence):
        match = _SIGNED.search(sentence) or _ALL.search(sentence) or _HAS.search(sentence)
        if match is not None:
            return match[0]
    return needs_a_witness(sentence)


def _sized(subject: LintSubject) -> Iterator[LintFinding]:
    if len(subject.variants) < 2:
        return
    sizes: list[set[int]] = [
        {size for value in variant.values.values() for size in value.shape} for variant in subject.variants
    ]
    # a size that some variant lacks; whatever all have may be typed
    varying = {size for some in sizes for size in some if not all(size in other for other in sizes)}
    scalars = [
        {name: value.entries[0] for name, value in variant.values.items() if not value.shape}
        for variant in subject.variants
    ]
    for written in written_texts(subject.spec):
        if written.kind in ("option", "erratum") or _is_guarded(written, subject):
            continue
        chosen = TEMPLATE_BLOCK.sub(
            " ", TEMPLATE_SPAN.sub("…", _CHOSEN.sub("▪", _CHOSEN.sub("▪", written.text)))
        )
        for match in _SIZE.finditer(chosen):
            word = (match[1] or match[2]).lower()
            count = int(word) if word.isdigit() else NUMBER_WORDS.index(word)
            if count in varying:
                message = f"{match[0]!r} is typed, and the number differs from variant to variant"
                yield subject.warning(message, written.loc, next_step="fill it in: {{ size(…) }}")
        for match in _SET.finditer(chosen):
            for seed, values in enumerate(scalars):
                if match[1] in values and values[match[1]] != match[2]:
                    message = f"the text says {match[0]!r}, and {match[1]} is {values[match[1]]} here"
                    yield subject.fault(message, written.loc, seed=seed)
                    break


def _is_guarded(written: StudentText, subject: LintSubject) -> bool:
    """Return whether a text is checked against its option's numbers, or shown only where `when` holds."""
    if written.loc[-1] not in ("feedback", "text"):
        return False
    # the file, not the spec: there `when` is still beside its text
    entry: Any = subject.document.data if subject.document else None
    for step in written.loc[:-1]:
        try:
            entry = entry[step]
        except (KeyError, IndexError, TypeError):
            return False
    return isinstance(entry, dict) and ("when" in entry or "{{" in str(entry.get("text", "")))


def _literal_sentences(text: str, parameters: Container[str] = ()) -> list[str]:
    """Return the sentences of a text that all variants show, without what an `if` chooses.

    A drawn value becomes ``…``, what is computed from several ``▪``, a formula ``§``.
    """
    chosen = _CHOSEN.sub("▪", _CHOSEN.sub("▪", text))  # twice: an `if` may stand in another
    filled = TEMPLATE_SPAN.sub(lambda match: "…" if _is_drawn(match[1], parameters) else "▪", chosen)
    literal = _FORMULA.sub(
        lambda match: _MARKS.get(match[1].strip(), "▪" if "▪" in match[1] else "§"), filled
    )
    return re.split(r"(?<=[.!?;])\s+", " ".join(TEMPLATE_BLOCK.sub(" ", literal).split()))


def _is_drawn(expression: str, parameters: Container[str]) -> bool:
    """Return whether a template fills in a drawn value, or an entry of one, as it is."""
    calls = set(_CALL.findall(expression)) - _DISPLAYS
    return not calls and all(
        name in parameters for name in _NAME.findall(expression) if name not in _DISPLAYS
    )
