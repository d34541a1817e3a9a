"""Choice questions: options, what they earn, and the scoring rule that comes nearest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from engine.answers.reading.labels import same_words
from engine.exchange.numerals import percent
from engine.exchange.question import Answer, Question
from engine.exchange.soundness import right_options
from engine.exchange.spec_file.policies import nearest_policy
from engine.exchange.spec_file.texts import Texts, UnfitError, named
from engine.plurals import agree, counted

__all__ = ["MAX_OPTIONS", "Choice", "choice_answer"]

MAX_OPTIONS = 26


class Choice:
    """A choice on its way into a spec.

    Parameters
    ----------
    data : dict
        The spec's ``answer``.
    variants : int
        How many different variants it has.
    key : str
        The right option's text without markup, if there is only one.
    """

    def __init__(self, data: dict[str, Any], variants: int, key: str) -> None:
        self.data = data
        self.variants = variants
        self.key = key


def choice_answer(question: Question, texts: Texts) -> Choice:
    """Return the answer of a choice question.

    Raises
    ------
    UnfitError
        There are too many or too few options, or all are right.
    """
    if len(question.answers) < 2:
        raise UnfitError("it has one option only", "add a wrong option")
    if len(question.answers) > MAX_OPTIONS:
        raise UnfitError(
            f"it has {counted(len(question.answers), 'option')}; {MAX_OPTIONS} letters name them", "drop some"
        )
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
    keeps_order = _named_by_letters(words, drawn=variants > 1)
    if keeps_order or not question.shuffle:
        data["shuffle"] = False
    data["options"] = options
    return Choice(data, variants, key if variants == 1 else "")


def _options(
    question: Question, right: Sequence[Answer], texts: Texts
) -> tuple[list[str], list[dict[str, Any]]]:
    """Return the options' words and their entries in the spec."""
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


def _usual(question: Question, texts: Texts, *, right: bool) -> str:
    """Return the feedback for any right or wrong answer, where one option is picked."""
    markup = question.right if right else question.wrong
    what = f"feedback for {'right' if right else 'wrong'} answers"
    text = texts.feedback(markup, what)
    if text and not question.single:
        texts.note(f"{what} isn't kept: options are explained one by one where several are picked")
        return ""
    return text


def _single(question: Question, right: Sequence[Answer], data: dict[str, Any], texts: Texts) -> int:
    """Note what options earn in part; draw one of several right options. Return the number of variants."""
    for answer in question.answers:
        if answer not in right and answer.fraction != 0:
            earns = f"{percent(answer.fraction)} for {named(answer.text.text)}"
            texts.note(f"{earns} isn't kept: a wrong option earns 0 here", answer.place)
    if len(right) > 1:
        data["draw"] = [1, len(question.answers) - len(right)]
        texts.note(
            f"{counted(len(right), 'option')} {agree(len(right), 'are')} right alone; a variant "
            "shows one of them",
            question.place,
        )
    return len(right)


def _several(question: Question, words: Sequence[str], data: dict[str, Any], texts: Texts) -> None:
    """Choose the scoring rule, and note how it differs."""
    nearest = nearest_policy([answer.fraction for answer in question.answers])
    data["policy"] = nearest.policy
    if nearest.difference:
        picked = ", ".join(named(words[i]) for i in nearest.picked[:4])
        more = f" and {len(nearest.picked) - 4} more" if len(nearest.picked) > 4 else ""
        shares = f"{percent(nearest.theirs)} there, {percent(nearest.ours)} here"
        what = f"the percentages can't be kept; '{nearest.policy}' is nearest"
        texts.note(f"{what}, and differs most for {picked}{more}: {shares}", question.place)


def _named_by_letters(words: Sequence[str], *, drawn: bool) -> bool:
    """Tell whether options are called as our letters for them are: then they keep their order.

    Raises
    ------
    UnfitError
        One is called like the letter of another one, so a letter would mean two options.
    """
    letters = [chr(ord("a") + i) for i in range(len(words))]
    plain = [same_words(word) for word in words]
    for letter, word in zip(letters, plain, strict=True):
        if word in letters and (drawn or word != letter):
            what = f"the option '{word}' is called like the letter of another one"
            raise UnfitError(what, f"call it something longer, such as 'state {word}'")
    return any(word in letters for word in plain)


def _with_letters_in_order(question: Question) -> Question:
    """Return the question with options that are single letters in the order of the alphabet."""
    words = [answer.text.text.strip().casefold() for answer in question.answers]
    if sorted(words) != [chr(ord("a") + i) for i in range(len(words))]:
        return question
    ordered = sorted(question.answers, key=lambda answer: answer.text.text.strip().casefold())
    return replace(question, answers=tuple(ordered))
