"""Several of several options."""

from __future__ import annotations

from collections.abc import Set
from fractions import Fraction
from math import comb
from typing import Any

from engine.answers.answer_type import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    MixedPool,
    WrittenOptions,
)
from engine.answers.parsing import read_labels, read_texts, same_words
from engine.items import MultipleChoiceAnswer
from engine.model import ChoiceOption, Diagnosis, Part
from engine.text.words import agree, count_noun, join_words

__all__ = ["POLICIES", "MultipleChoice", "chance_of", "draft", "score_of"]


# ----------------------------------------------------------------------------------------------------
# Scoring rules for several right options, named as in the field.
#
# With n options of which c are right, t right picks and f wrong picks:
#
# - ``exact``: 1 if t = c and f = 0, else 0
# - ``net-correct``: max(0, (t - f) / c)
# - ``each-answer``: 1 - (wrong decisions) / n, a decision being wrong where a right option isn't
#   picked or a wrong one is
# - ``coverage``: (t / c) (t / (t + f))
#
# A blank answer is 0 before any formula.

POLICIES = {
    "exact": "all right options and no others, or nothing",
    "net-correct": "each right option picked earns its share, each wrong one picked costs as much; "
    "never below 0",
    "each-answer": "each option rightly picked or rightly left out earns its share",
    "coverage": "the share of right options picked, times the share of your picks that are right",
}


def score_of(policy: str, options: int, right: Set[str], picked: Set[str]) -> Fraction:
    """Return the share of the marks.

    Parameters
    ----------
    policy : str
        One of :data:`POLICIES`.
    options : int
        Number of options shown.
    right, picked : set of str
        Option ids; ``right`` isn't empty.

    Raises
    ------
    ValueError
        The policy is unknown.
    """
    hits, false = len(right & picked), len(picked - right)
    return _score(policy, options, len(right), hits, false)


def _score(policy: str, options: int, right: int, hits: int, false: int) -> Fraction:
    if hits + false == 0:
        return Fraction(0)
    if policy == "exact":
        return Fraction(int(hits == right and false == 0))
    if policy == "net-correct":
        return max(Fraction(0), Fraction(hits - false, right))
    if policy == "each-answer":
        return 1 - Fraction(right - hits + false, options)
    if policy == "coverage":
        return Fraction(hits, right) * Fraction(hits, hits + false)
    raise ValueError(f"unknown policy {policy!r}, expected one of {', '.join(POLICIES)}")


def chance_of(policy: str, options: int, right: int) -> float:
    """Return the mean share of who ticks each option by the toss of a coin, but at least one."""
    wrong = options - right
    total = sum(
        comb(right, hits) * comb(wrong, false) * _score(policy, options, right, hits, false)
        for hits in range(right + 1)
        for false in range(wrong + 1)
        if hits + false
    )
    return float(Fraction(total) / (2**options - 1))


class MultipleChoice(AnswerType):
    """Letters in any order; the policy says how they score."""

    name = "multiple_choice"
    shows_policy = True

    def parse(self, text: str, part: Part) -> frozenset[str]:
        """Return the ids of the options picked.

        Raises
        ------
        ResponseFormatError
            Something is no letter of an option.
        """
        words = same_words(text[:20_000])
        by_text = [option.id for option in part.options if same_words(option.text.plain) == words]
        if len(by_text) == 1:
            return frozenset(by_text)
        texts = read_texts(text[:20_000], {option.id: option.text.plain for option in part.options})
        return frozenset(texts or read_labels(text, [option.id for option in part.options], "options"))

    def judge(self, part: Part, answer: frozenset[str]) -> AnswerJudgement:
        """Judge a set of options by the part's policy."""
        right = frozenset(part.key_ids)
        fraction = score_of(self._policy(part), len(part.options), right, answer)
        wrong = [option for option in part.options if option.id in answer - right]
        diagnosis = tuple(
            Diagnosis(option.misconception, option.feedback or "This option is a known mistake.")
            for option in wrong
            if option.misconception
        )
        if answer == right:
            return AnswerJudgement(1, "Right.")
        return AnswerJudgement(fraction, self._message(wrong, len(right - answer)), diagnosis)

    def _message(self, wrong: list[ChoiceOption], missed: int) -> str:
        parts = []
        if wrong:
            names = join_words([f"({option.id})" for option in wrong])
            parts.append(f"{names} {agree(len(wrong), 'do')}n't belong here.")
        if missed:
            parts.append(
                "A right option is missing."
                if missed == 1
                else f"{count_noun(missed, 'right option')} are missing."
            )
        parts += [option.feedback for option in wrong if option.feedback and not option.misconception]
        return " ".join(parts)

    @staticmethod
    def _policy(part: Part) -> str:
        return str(part.settings.get("policy", "net-correct"))

    def right_responses(self, part: Part) -> list[str]:
        """Return the letters with commas, blanks, together, and in reversed order."""
        keys = list(part.key_ids)
        return list(
            dict.fromkeys(
                [
                    ", ".join(keys),
                    " ".join(keys),
                    "".join(keys),
                    ",".join(reversed(keys)),
                    " and ".join(k.upper() for k in keys),
                    "".join(f"({k})" for k in keys),
                ]
            )
        )

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return the key with each wrong option added."""
        return [
            (", ".join([*part.key_ids, option.id]), option.misconception)
            for option in part.options
            if not option.correct
        ]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``letters, such as a, c``, with the policy."""
        return "the letters of all right options, with commas between them"

    def policy(self, part: Part) -> str:
        """Return the scoring rule in one sentence."""
        return POLICIES[self._policy(part)]

    def chance_score(self, part: Part) -> float:
        """Return the mean share of who tosses a coin for each option."""
        return chance_of(self._policy(part), len(part.options), len(part.key_ids))


# ----------------------------------------------------------------------------------------------------
# Multiple choice: several right options, all shown or drawn from a pool.


def draft(answer: MultipleChoiceAnswer, context: FieldContext) -> FieldDraft:
    """Draft a multiple-choice field.

    Raises
    ------
    ImpossibleDraw
        The pool can't give what ``draw`` asks for, or no or every option is right.
    """
    options = WrittenOptions(answer, context, "at least one right and one wrong option are needed")
    settings: dict[str, Any] = {"policy": answer.policy}
    if isinstance(options.pool, MixedPool):
        settings["right_counts"] = list(options.pool.counts)
    return FieldDraft(None, options.pool.signature, options.builder(settings))
