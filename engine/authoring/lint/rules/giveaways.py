"""What students see before they answer (title, stem, prompts, hints) doesn't give the answer away.

Texts name options by what these say, too: letters and places change from student to student.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engine.answers import kind_of
from engine.authoring.lint.rules.cues import words_of
from engine.authoring.lint.rules.responses import answer_text, places_of
from engine.authoring.lint.subject import LintFinding, LintSubject, written_texts
from engine.items import MultipleChoiceAnswer, OrderingAnswer, SingleChoiceAnswer
from engine.model import ChoiceOption, Part, Variant
from engine.text.yaml_errors import Loc

_MOST = 0.9  # share of the variants from which on a number in the text isn't a coincidence
_FEW = 5  # different keys, below which it may still be one
_LONG = 12  # characters from which on an option isn't in a text by chance
_NAME_LENGTH = 6  # of a target, with a blank at each end: a letter or a short number names nothing
_LEAST_DIGITS = 3  # from which on a number isn't in a text by chance
# A sentence echoes the key where it has this share of the key's words, and at most a third of those of every
# other option. Everybody must read the stem, so it may have more of them than a hint.
_ECHOED_IN_STEM, _ECHOED_IN_HINT, _UNECHOED, _LEAST_WORDS = 0.8, 0.65, 0.34, 3
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n\n+")
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?(?![\w.]*\d)")
_LETTERED = re.compile(
    r"\b(?:options?|statements?|answers?|choices?|cards?)(?: is| are)? (?:\([a-f]\)|[b-f]\b|a\b(?= (?:is|and|or)\b))(?![\w’'-])|(?<![\w)\]])\([a-f]\)(?= (?:is|are|and|or|holds?)\b)"  # noqa: E501
)
_PLACED = re.compile(
    r"\b(?:first|second|third|fourth|last|next|previous|upper|lower) (?:two |three )?(?:options?|statements?|choices?)\b|"  # noqa: E501
    r"\b(?:options?|statements?|choices?) (?:number )?(?:\d|one|two|three)\b|\b(?:option|statement|choice|card)s? (?:above|below)\b",  # noqa: E501
    re.IGNORECASE,
)
_SAYING = re.compile(
    r"\bthe (?:option|statement|card|choice)s? (?:on|about|that says?|saying)\b", re.IGNORECASE
)


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield texts that hold the answer, and words for options that fit one order only."""
    if subject.is_code:
        return
    yield from _places(subject)
    yield from _fixed_order(subject)
    yield from _ordered(subject)
    yield from _matched(subject)
    for name, _ in subject.spec.answers:
        yield from _numbers(subject, name)
        yield from _options(subject, name)


def _places(subject: LintSubject) -> Iterator[LintFinding]:
    answers = [answer for _, answer in subject.spec.answers]
    shuffled = [a for a in answers if getattr(a, "shuffle", False)]
    is_drawn = any(getattr(answer, "draw", None) is not None for answer in answers)
    if not shuffled and not is_drawn:
        return
    for written in written_texts(subject.spec):
        if written.kind not in ("feedback", "hint", "solution"):
            continue
        match = _LETTERED.search(written.text) or _PLACED.search(written.text)
        if match is None and is_drawn:
            match = _SAYING.search(written.text)
        if match is not None:
            message = f"{match[0]!r} names an option that is elsewhere, or isn't shown, in other variants"
            yield subject.warning(message, written.loc, next_step="say in words what it says")


def _fixed_order(subject: LintSubject) -> Iterator[LintFinding]:
    if subject.spec.printed is not None:
        return
    for name, answer in subject.spec.answers:
        if isinstance(answer, SingleChoiceAnswer | MultipleChoiceAnswer) and not answer.shuffle:
            message = "the options keep their order, so the key has the same letter for everybody"
            step = "drop shuffle: false"
            yield subject.warning(message, (*subject.loc_of(name), "shuffle"), next_step=step)


def _ordered(subject: LintSubject) -> Iterator[LintFinding]:
    for name, answer in subject.spec.answers:
        if not isinstance(answer, OrderingAnswer):
            continue
        for loc, text in _before(subject.variants[:1], name):
            plain = _plain(text)
            places = [plain.find(_plain(card.text)) for card in answer.cards]
            if -1 not in places and places == sorted(places):
                yield subject.warning("the text gives the cards in their right order", loc)


def _before(variants: Sequence[Variant], name: str) -> Iterator[tuple[Loc, str]]:
    """Yield the texts that students see before they answer a part, also those of later steps."""
    for variant in variants:
        yield ("title",), variant.title
        yield ("stem",), variant.stem.plain
        for index, part in enumerate(variant.parts):
            if part.prompt is not None:
                yield ("answer",) if part.id == "answer" else ("steps", index, "prompt"), part.prompt.plain
        for index, hint in enumerate(variant.hints):
            yield ("hints", index), hint.plain


def _numbers(subject: LintSubject, name: str) -> Iterator[LintFinding]:
    answer = dict(subject.spec.answers)[name]
    # the question may be which of several given sizes counts: then the text has to show the key
    is_given = getattr(answer, "decimals", None) == 0 and str(getattr(answer, "key", "")).isidentifier()
    showings: dict[Loc, list[bool]] = {}
    keys = set()
    for variant in subject.variants:
        part = next(part for part in variant.parts if part.id == name)
        if part.key is None and (part.type != "token" or not part.key_ids):
            return
        key = part.key_ids[0] if part.key is None else answer_text(part.key, places_of(part))
        keys.add(key)
        for loc, text in _before((variant,), name):
            is_hint = loc[0] == "hints"
            if is_hint or not (is_given or _is_drawn(key, variant)):
                showings.setdefault(loc, []).append(_holds(text, part, key, is_hint=is_hint))
    if len(keys) < min(_FEW, subject.spec.variants or _FEW):
        return
    for loc, shows_key in showings.items():
        if len(shows_key) >= min(_FEW, len(subject.variants)) and sum(shows_key) >= _MOST * len(shows_key):
            phrase = "the answer" if name == "answer" else f"the answer to {name}"
            message = f"the text shows {phrase} before it is given"
            yield subject.warning(message, loc, next_step="say how to find it, not what it is")


def _is_drawn(key: str, variant: Variant) -> bool:
    return any(not value.shape and key in value.entries for value in variant.values.values())


def _holds(text: str, part: Part, key: str, *, is_hint: bool) -> bool:
    words = [number.replace("−", "-") for number in _NUMBER.findall(text)]
    if part.key is None:
        return len(key) > 2 and f" {key.casefold()} " in f" {_plain(text)} "
    key_numbers = [number.replace("−", "-") for number in _NUMBER.findall(key)]
    if len(key_numbers) == 1:
        return key_numbers[0] in words
    if is_hint and any(
        len(re.sub(r"\D", "", entry)) >= _LEAST_DIGITS and entry in words for entry in key_numbers
    ):
        return True
    return any(
        words[start : start + len(key_numbers)] == key_numbers
        for start in range(len(words) - len(key_numbers) + 1)
    )


def _options(subject: LintSubject, name: str) -> Iterator[LintFinding]:
    reported: set[Loc] = set()
    for seed, variant in enumerate(subject.variants):
        part = next(part for part in variant.parts if part.id == name)
        right, wrong = _sides(part)
        for loc, text in _before((variant,), name):
            for option in right if loc not in reported else ():
                if (how := _gives_away(text, option, wrong, part, is_hint=loc[0] == "hints")) is not None:
                    reported.add(loc)
                    message = f"the text {how} the right option: {option.text.plain[:60]}"
                    step = "take the key's words out of it, or give some of them to wrong options"
                    yield subject.warning(
                        message, loc, got=" ".join(text.split())[:100], next_step=step, seed=seed
                    )
                    break


def _matched(subject: LintSubject) -> Iterator[LintFinding]:
    reported: set[str] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            targets = {option.id: f" {_plain(option.text.plain)} " for option in part.options}
            for prompt, key in zip(part.prompts, part.key_ids, strict=False):
                text = f" {_plain(prompt.text.plain)} "
                targets_named = [
                    target for target, words in targets.items() if len(words) > _NAME_LENGTH and words in text
                ]
                if targets_named == [key] and text not in reported:
                    reported.add(text)
                    message = f"a card holds the name of its target: {prompt.text.plain[:60]}"
                    yield subject.warning(message, (*subject.loc_of(part.id), "prompts"), seed=seed)


def _sides(part: Part) -> tuple[list[ChoiceOption], list[ChoiceOption]]:
    if not kind_of(part.type).picks_options:
        return [], []
    right = [option for option in part.options if option.correct]
    return right, [option for option in part.options if not option.correct]


def _gives_away(
    text: str, option: ChoiceOption, wrong: Sequence[ChoiceOption], part: Part, *, is_hint: bool
) -> str | None:
    plain, key = _plain(text), _plain(option.text.plain)
    if len(key) >= _LONG and key in plain and not any(_plain(other.text.plain) in plain for other in wrong):
        return "holds"
    if part.type != "single_choice" or len(words := _roots(key)) < _LEAST_WORDS:
        return None
    least, share = (2, _ECHOED_IN_HINT) if is_hint else (3, _ECHOED_IN_STEM)
    others = [_roots(other.text.plain) for other in wrong]
    for sentence in _SENTENCE.split(text):
        met = _roots(sentence)
        is_question, enough = sentence.rstrip().endswith("?"), max(share * len(words), least)
        alone = all(len(other & met) <= _UNECHOED * max(1, len(other)) for other in others)
        if not is_question and len(words & met) >= enough and alone:
            return "says in other words"
    return None


def _roots(text: str) -> set[str]:
    return {re.sub(r"(?:s|ed|es)$", "", word) for word in words_of(text)}


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s.=+*/-]", " ", text.casefold()).split()).rstrip(".")
