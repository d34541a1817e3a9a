"""The answer section of an imported item, one function for each kind of question.

Other systems give percentages to options where an item here has a scoring rule. The nearest of ours is
chosen, and whatever a student would earn differently is noted. Numbers are in
:mod:`~engine.authoring.importing.imported_numbers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from engine.answers.multiple_choice import score_of
from engine.answers.reading_options import same_words
from engine.answers.token import normal_token
from engine.authoring.importing.foreign_question import (
    ForeignQuestion,
    ForeseenAnswer,
    right_options,
)
from engine.authoring.importing.question_texts import QuestionTexts, UnfitError, excerpt, slug
from engine.authoring.importing.text_blocks import plain_characters
from engine.text.words import agree, count_noun, percent

# where two come equally near, the first one is taken: it is the one most like Moodle's
_POLICIES = ("net-correct", "exact", "coverage", "each-answer")
# With up to so many options all 2^n choices are compared; with more, those of equal hits and misses count as
# one, which is exact for equal percentages and near enough for others.
_ALL = 10


@dataclass(frozen=True, slots=True)
class NearestPolicy:
    """A scoring rule of ours, and the choice for which it differs most from theirs.

    Parameters
    ----------
    policy : str
    difference : Fraction
        The largest difference, as a share of the points; 0 where both rules are the same.
    picked : tuple of int
        Positions of the options of such a choice.
    theirs, ours : Fraction
        What that choice earns there and here.
    """

    policy: str
    difference: Fraction
    picked: tuple[int, ...] = ()
    theirs: Fraction = Fraction(0)
    ours: Fraction = Fraction(0)


def moodle_score(fractions: Sequence[Fraction]) -> Fraction:
    """Return what picked options earn in Moodle: the sum of their percentages, from 0 to 100 %."""
    return min(Fraction(1), max(Fraction(0), sum(fractions, Fraction(0))))


def nearest_policy(fractions: Sequence[Fraction]) -> NearestPolicy:
    """Return the rule with the least mean difference over all choices.

    Parameters
    ----------
    fractions : sequence of Fraction
        Of each option; those above 0 are the right ones.
    """
    right = frozenset(str(i) for i, share in enumerate(fractions) if share > 0)
    choices = list(_choices(fractions, right))
    candidates: list[tuple[Fraction, NearestPolicy]] = []
    for policy in _POLICIES:
        total, worst = Fraction(0), NearestPolicy(policy, Fraction(0))
        for picked, weight in choices:
            theirs = moodle_score([fractions[i] for i in picked])
            ours = score_of(policy, len(fractions), right, {str(i) for i in picked})
            total += abs(theirs - ours) * weight
            if abs(theirs - ours) > worst.difference:
                worst = NearestPolicy(policy, abs(theirs - ours), picked, theirs, ours)
        candidates.append((total, worst))
    return min(candidates, key=lambda entry: entry[0])[1]


def _choices(fractions: Sequence[Fraction], right: frozenset[str]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield positions of options that are picked, and for how many choices they stand."""
    positions = range(len(fractions))
    if len(fractions) <= _ALL:
        for size in range(1, len(fractions) + 1):
            for picked in combinations(positions, size):
                yield picked, 1
        return
    good = [i for i in positions if str(i) in right]
    bad = [i for i in positions if str(i) not in right]
    for hits in range(len(good) + 1):
        for false in range(len(bad) + 1):
            if hits + false:
                yield (*good[:hits], *bad[:false]), comb(len(good), hits) * comb(len(bad), false)


MAX_OPTIONS = 26  # letters


@dataclass(frozen=True, slots=True)
class ImportedChoice:
    """The answer section of a choice.

    Parameters
    ----------
    data : dict
    variants : int
        How many different variants it has.
    key : str
        The right option's text without markup, if there is only one.
    """

    data: dict[str, Any]
    variants: int
    key: str


def choice_answer(question: ForeignQuestion, texts: QuestionTexts) -> ImportedChoice:
    """Return the answer of a choice question.

    Raises
    ------
    UnfitError
        There are too many or too few options, or all are right.
    """
    if len(question.answers) < 2:
        raise UnfitError("it has one option only", "add a wrong option")
    if len(question.answers) > MAX_OPTIONS:
        message = f"it has {count_noun(len(question.answers), 'option')}; {MAX_OPTIONS} letters name them"
        raise UnfitError(message, "drop some")
    question = _with_letters_in_order(question)
    right = right_options(question)
    if len(right) == len(question.answers):
        raise UnfitError("every option is right", "add a wrong option")
    words, options = _options(question, right, texts)
    data: dict[str, Any] = {"type": "single_choice" if question.single else "multiple_choice"}
    key = ""
    variants = 1
    if question.single:
        variants = _single(question, right, data, texts)
        key = next(text for text, answer in zip(words, question.answers, strict=True) if answer in right)
    else:
        _several(question, words, data, texts)
    keeps_order = _named_by_letters(words, has_variants=variants > 1)
    if keeps_order or not question.shuffle:
        data["shuffle"] = False
    data["options"] = options
    return ImportedChoice(data, variants, key if variants == 1 else "")


def _options(
    question: ForeignQuestion, right: Sequence[ForeseenAnswer], texts: QuestionTexts
) -> tuple[list[str], list[dict[str, Any]]]:
    usual = {True: _usual(question, texts, right=True), False: _usual(question, texts, right=False)}
    words: list[str] = []
    options: list[dict[str, Any]] = []
    for number, answer in enumerate(question.answers, start=1):
        converted = texts.needed(answer.text, f"option {number}", place=answer.place)
        is_right = answer in right
        option: dict[str, Any] = {"text": converted.prose}
        if is_right:
            option["correct"] = True
        feedback = texts.feedback(answer.feedback, f"feedback of option {number}", place=answer.place)
        if feedback := feedback or usual[is_right]:
            option["feedback"] = feedback
        words.append(converted.words)
        options.append(option)
    return words, options


def _usual(question: ForeignQuestion, texts: QuestionTexts, *, right: bool) -> str:
    """Return the feedback for any right or wrong answer, where one option is picked."""
    markup = question.right if right else question.wrong
    label = f"feedback for {'right' if right else 'wrong'} answers"
    text = texts.feedback(markup, label)
    if text and not question.single:
        texts.note(f"{label} isn't kept: options are explained one by one where several are picked")
        return ""
    return text


def _single(
    question: ForeignQuestion, right: Sequence[ForeseenAnswer], data: dict[str, Any], texts: QuestionTexts
) -> int:
    """Note what options earn in part; draw one of several right options. Return the number of variants."""
    for answer in question.answers:
        if answer not in right and answer.fraction != 0:
            earns = f"{percent(answer.fraction)} for {excerpt(answer.text.text)}"
            texts.note(f"{earns} isn't kept: a wrong option earns 0 here", answer.place)
    if len(right) > 1:
        data["draw"] = [1, len(question.answers) - len(right)]
        texts.note(
            f"{count_noun(len(right), 'option')} {agree(len(right), 'are')} right alone; a variant "
            "shows one of them",
            question.place,
        )
    return len(right)


def _several(
    question: ForeignQuestion, words: Sequence[str], data: dict[str, Any], texts: QuestionTexts
) -> None:
    if question.policy:  # found out by trying, not by percentages
        data["policy"] = question.policy
        return
    nearest = nearest_policy([answer.fraction for answer in question.answers])
    data["policy"] = nearest.policy
    if nearest.difference:
        picked = ", ".join(excerpt(words[i]) for i in nearest.picked[:4])
        more = f" and {len(nearest.picked) - 4} more" if len(nearest.picked) > 4 else ""
        shares = f"{percent(nearest.theirs)} there, {percent(nearest.ours)} here"
        reason = f"the percentages can't be kept; '{nearest.policy}' is nearest"
        texts.note(f"{reason}, and differs most for {picked}{more}: {shares}", question.place)


def _named_by_letters(words: Sequence[str], *, has_variants: bool) -> bool:
    """Return whether options are single letters, as our labels for them are: then they keep their order.

    Raises
    ------
    UnfitError
        One is called like the label of another, so that the letter would mean two options.
    """
    letters = [chr(ord("a") + i) for i in range(len(words))]
    plain = [same_words(word) for word in words]
    for letter, word in zip(letters, plain, strict=True):
        if word in letters and (has_variants or word != letter):
            reason = f"the option '{word}' is called like the letter of another one"
            raise UnfitError(reason, f"call it something longer, such as 'state {word}'")
    return any(word in letters for word in plain)


def _with_letters_in_order(question: ForeignQuestion) -> ForeignQuestion:
    words = [answer.text.text.strip().casefold() for answer in question.answers]
    if sorted(words) != [chr(ord("a") + i) for i in range(len(words))]:
        return question
    ordered = sorted(question.answers, key=lambda answer: answer.text.text.strip().casefold())
    return replace(question, answers=tuple(ordered))


# the schema's limits, and that of a word in an expression
_MAX_WORD, _MAX_ACCEPTED, _MAX_FORESEEN = 200, 50, 64
_WILD = re.compile(r"(?<!\\)\*")


def token_answer(
    question: ForeignQuestion, texts: QuestionTexts
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the answer of a short-answer question, and the wrong answers that its author expected.

    Raises
    ------
    UnfitError
        No accepted text can be compared with an answer.
    """
    accepted: list[str] = []
    others: list[tuple[str, ForeseenAnswer]] = []
    for answer in question.answers:
        raw = answer.text.text.strip()
        if raw == "*":
            if answer.feedback:
                texts.note("feedback for any other answer isn't kept", answer.place)
            if answer.fraction != 0:
                texts.note(f"{percent(answer.fraction)} for any other answer isn't kept", answer.place)
            continue
        if _WILD.search(raw):
            texts.note(
                f"{excerpt(raw)} isn't kept: there are no patterns here, list the answers", answer.place
            )
            continue
        word = " ".join(plain_characters(raw.replace("\\*", "*"))[0].split())
        if answer.fraction == 1:
            accepted.append(word)
        else:
            others.append((word, answer))
    accepted = [word for word in dict.fromkeys(accepted) if normal_token(word)]
    _check(accepted)
    data: dict[str, Any] = {"type": "token", "accepted": accepted}
    if not question.case_sensitive and any(word.upper().casefold() != word.casefold() for word in accepted):
        texts.note(
            "capitals matter here, as the accepted text has letters such as a dotless i", question.place
        )
        question = replace(question, case_sensitive=True)
    if question.case_sensitive:
        data["case_sensitive"] = True
    if question.near_share:
        data["order_credit"] = float(question.near_share)
    return data, _foreseen_words(accepted, others, question, texts)


def _check(accepted: list[str]) -> None:
    if not accepted:
        raise UnfitError("it accepts patterns or signs only", "list the words that are right")
    if len(accepted) > _MAX_ACCEPTED:
        message = f"it accepts {count_noun(len(accepted), 'text')}; at most {_MAX_ACCEPTED} are possible"
        raise UnfitError(message, "list fewer")
    if any(len(word) > _MAX_WORD for word in accepted):
        raise UnfitError(f"an accepted text has over {_MAX_WORD} characters", "ask for a few words")


def _foreseen_words(
    accepted: list[str],
    others: list[tuple[str, ForeseenAnswer]],
    question: ForeignQuestion,
    texts: QuestionTexts,
) -> list[dict[str, Any]]:
    """Return wrong answers with feedback as known mistakes, but those that the rules here would accept.

    Their ids are filled in when the item's own is known.
    """
    spellings = {normal_token(word, question.case_sensitive) for word in accepted}
    mistakes: list[dict[str, Any]] = []
    for word, answer in others:
        feedback = texts.feedback(answer.feedback, f"feedback of {excerpt(word)}", place=answer.place)
        if answer.fraction != 0:
            texts.note(
                f"{percent(answer.fraction)} for {excerpt(word)} isn't kept: it earns 0 here", answer.place
            )
        normal = normal_token(word, question.case_sensitive)
        if normal in spellings or not normal or len(word) > _MAX_FORESEEN:
            if feedback:
                texts.note(f"feedback of {excerpt(word)} isn't kept", answer.place)
            continue
        spellings.add(normal)
        if feedback:
            expression = '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'
            mistakes.append({"id": "", "expr": expression, "feedback": feedback})
    return mistakes


def matching_answer(question: ForeignQuestion, texts: QuestionTexts) -> dict[str, Any]:
    """Return the answer of a matching question; equal right sides become one target.

    Raises
    ------
    UnfitError
        All pairs have the same right side, or there are too many.
    """
    ids: dict[str, str] = {}
    targets: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    wrong = texts.feedback(question.wrong, "feedback for wrong answers")
    for number, pair in enumerate(question.pairs, start=1):
        text = texts.needed(pair.target, f"the right side of pair {number}", place=pair.place).prose
        if text not in ids:
            ids[text] = _target_id(text, list(ids.values()))
            targets.append({"id": ids[text], "text": text})
        if pair.prompt:
            prompt_text = texts.needed(pair.prompt, f"the left side of pair {number}", place=pair.place).prose
            prompt: dict[str, Any] = {"text": prompt_text, "target": ids[text]}
            label = f"feedback of pair {number}"
            if feedback := texts.feedback(pair.feedback, label, place=pair.place) or wrong:
                prompt["feedback"] = feedback
            prompts.append(prompt)
    if len(targets) < 2:
        raise UnfitError("all pairs have the same right side", "add another right side")
    if len(targets) > 20 or len(prompts) > 40:
        reason = f"it has {len(prompts)} left and {len(targets)} right sides"
        raise UnfitError(f"{reason}; at most 40 and 20 are possible", "make two questions of it")
    data = {"type": "matching", "prompts": prompts, "targets": targets}
    return {**data, "policy": question.policy} if question.policy else data


def _target_id(text: str, used: list[str]) -> str:
    name = slug(text, 24) or "target"
    return next(i for i in (name, *(f"{name}-{n}" for n in range(2, 1000))) if i not in used)
