"""Several of several options; four scoring rules say what right and wrong picks earn.

With n options of which c are right, t right picks and f wrong picks:

- ``exact``: 1 if t = c and f = 0, else 0
- ``net-correct``: max(0, (t - f) / c)
- ``each-answer``: 1 - (wrong decisions) / n, a decision being wrong where a right option isn't
  picked or a wrong one is
- ``coverage``: (t / c) (t / (t + f))

A blank answer is 0 before any formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, ClassVar

from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    GuessScore,
    PartSettings,
    sum_chances,
)
from engine.answers.options import MixedPool, WrittenOptions, rekeyed_choice
from engine.answers.reading_options import read_labels, read_texts, same_words, words_of_option
from engine.answers.single_choice import option_diagnosis
from engine.model import ChoiceOption, Part
from engine.text.words import agree, count_noun, join_words

if TYPE_CHECKING:
    from engine.items import MultipleChoiceAnswer

# Longer than all options of a question together.
_LONGEST = 20_000


@dataclass(frozen=True, slots=True)
class MultipleChoiceSettings(PartSettings):
    """Settings of a multiple choice.

    Parameters
    ----------
    policy : str
        One of :data:`POLICIES`.
    right_counts : tuple of int
        How many right options its variants can have, where that differs between them.
    """

    policy: str = "net-correct"
    right_counts: tuple[int, ...] = ()
    omit_empty: ClassVar[frozenset[str]] = frozenset({"right_counts"})


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
        return Fraction(max(0, hits - false), right)
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
    return float(Fraction(total) / (2**options - 1))  # all subsets but the empty one, which is a blank answer


class MultipleChoice(AnswerType):
    """Letters in any order; the policy says how they score."""

    name = "multiple_choice"
    picks_options = True
    invites_elimination = True
    shows_policy = True

    def draft(self, answer: MultipleChoiceAnswer, context: FieldContext) -> FieldDraft:
        """Draft a multiple-choice field."""
        options = WrittenOptions(answer, context, "at least one right and one wrong option are needed")
        counts = tuple(options.pool.right_counts) if isinstance(options.pool, MixedPool) else ()
        settings = MultipleChoiceSettings(policy=answer.policy, right_counts=counts)
        return FieldDraft(None, options.pool.signature, options.builder(settings))

    def parse(self, text: str, part: Part) -> frozenset[str]:
        """Return the ids of the options picked."""
        words = same_words(text[:_LONGEST])
        by_text = [option.id for option in part.options if words_of_option(option.text.plain) == words]
        if len(by_text) == 1:
            return frozenset(by_text)
        texts = read_texts(text[:_LONGEST], {option.id: option.text.plain for option in part.options})
        return frozenset(texts or read_labels(text, [option.id for option in part.options], "options"))

    def judge(self, part: Part, answer: frozenset[str]) -> AnswerJudgement:
        """Judge a set of options by the part's policy."""
        right = frozenset(part.key_ids)
        if answer == right:
            return AnswerJudgement(1, "Right.")
        fraction = score_of(self._policy(part), len(part.options), right, answer)
        wrong = [option for option in part.options if option.id in answer - right]
        diagnosis = tuple(option_diagnosis(option) for option in wrong if option.misconception)
        return AnswerJudgement(fraction, self._message(wrong, len(right - answer)), diagnosis)

    def _message(self, wrong: list[ChoiceOption], missed: int) -> str:
        sentences = []
        if wrong:
            names = join_words([f"({option.id})" for option in wrong])
            sentences.append(f"{names} {agree(len(wrong), 'do')}n't belong here.")
        if missed:
            sentences.append(
                "A right option is missing."
                if missed == 1
                else f"{count_noun(missed, 'right option')} are missing."
            )
        sentences += [option.feedback for option in wrong if option.feedback and not option.misconception]
        return " ".join(sentences)

    @staticmethod
    def _policy(part: Part) -> str:
        return MultipleChoiceSettings.of(part).policy

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
        return "the letters of all right options, separated by commas"

    def policy(self, part: Part) -> str:
        """Return the scoring rule in one sentence."""
        return POLICIES[self._policy(part)]

    def rekeyed(self, handed_out: Part, *, new: Part, old: Part, ids: Mapping[str, str]) -> Part:
        """Return the part with the options that are right now."""
        # How many right options its variants can have is history, as the options that were shown are.
        counts = {name: value for name, value in old.settings.items() if name == "right_counts"}
        return replace(rekeyed_choice(handed_out), settings={**new.settings, **counts})

    def chance_score(self, part: Part) -> float:
        """Return the mean share of who tosses a coin for each option."""
        return chance_of(self._policy(part), len(part.options), len(part.key_ids))

    def guess(self, part: Part) -> GuessScore:
        """Return what the number of blind picks earns that pays best.

        Where variants differ in how many options are right, that number isn't known to who guesses: the
        picks are as many as pay best on average over all numbers, and their score is that of this variant.
        """
        right_counts = MultipleChoiceSettings.of(part).right_counts or (len(part.key_ids),)

        def total(picks: int) -> float:
            return sum(self._blind_picks(part, right, picks).mean for right in right_counts)

        best = max(range(1, len(part.options) + 1), key=total)
        return self._blind_picks(part, len(part.key_ids), best)

    def _blind_picks(self, part: Part, right: int, picks: int) -> GuessScore:
        """Return what so many blind picks earn at a part of which so many options are right."""
        # A score depends only on hits and false picks, so that any options may stand for the right ones.
        ids = [option.id for option in part.options]
        keys, wrong = ids[:right], ids[right:]
        alike = replace(part, key_ids=tuple(keys))
        return GuessScore(
            sum_chances(
                (
                    float(self.judge(alike, frozenset(keys[:hits] + wrong[: picks - hits])).fraction),
                    comb(len(keys), hits) * comb(len(wrong), picks - hits) / comb(len(ids), picks),
                )
                for hits in range(max(0, picks - len(wrong)), min(picks, len(keys)) + 1)
            )
        )
