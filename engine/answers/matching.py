"""Prompts and their targets: a letter for each number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

from engine.answers.base import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    GuessScore,
    PartSettings,
    letters,
    sum_chances,
)
from engine.answers.options import OptionPool, offered
from engine.answers.reading_options import MAX_LABELS, read_labels, read_pairs, same_words
from engine.answers.typed_text import format_error
from engine.draws import ImpossibleDraw, RandomStream
from engine.errors import ResponseFormatError
from engine.model import ChoiceOption, Part
from engine.text.words import agree, count_noun, join_words

if TYPE_CHECKING:
    from engine.items import MatchingAnswer

# The number of a prompt at the beginning or behind a separator, before a target's text.
_NUMBER = re.compile(r"(?:\A|(?<=[\n,;{\[]))[ ]{0,4}\(?([0-9]{1,2})\)?[ ]{0,4}(?:->|=>|[-:=.)→–|])[ ]{0,4}")


@dataclass(frozen=True, slots=True)
class MatchingSettings(PartSettings):
    """Settings of a matching: its ``policy``, ``each-answer`` or ``exact``."""

    policy: str = "each-answer"


class Matching(AnswerType):
    """A letter for each number; numbers may be left out."""

    name = "matching"
    invites_elimination = True
    shows_policy = True

    def draft(self, answer: MatchingAnswer, context: FieldContext) -> FieldDraft:
        """Draft a matching field; prompts get numbers, targets letters."""
        targets = [answer.targets[i] for i in offered(answer.targets, context.names)]
        ids = {target.id for target in targets}
        positions = offered(answer.prompts, context.names)
        pool = OptionPool(("prompts", positions, answer.draw))
        for prompt in (answer.prompts[i] for i in positions):
            if prompt.target not in ids:
                raise ImpossibleDraw(f"there is no target {prompt.target}")

        def build(renderer: FieldRenderer, stream: RandomStream) -> Part:
            prompts = stream.shuffled([answer.prompts[i] for i in pool.draw(stream)])
            shuffled = stream.shuffled(targets)
            letter = dict(zip((target.id for target in shuffled), letters(len(shuffled)), strict=True))
            return Part(
                "",
                answer.type,
                1.0,
                key_ids=tuple(letter[prompt.target] for prompt in prompts),
                options=tuple(
                    ChoiceOption(letter[target.id], renderer.text(target.text, "target", inline=True))
                    for target in shuffled
                ),
                prompts=tuple(
                    ChoiceOption(
                        str(number),
                        renderer.text(prompt.text, "prompt", inline=True),
                        feedback=renderer.feedback(prompt.feedback),
                    )
                    for number, prompt in enumerate(prompts, start=1)
                ),
                settings=MatchingSettings(policy=answer.policy).as_json(),
            )

        return FieldDraft(None, pool.signature, build)

    def parse(self, text: str, part: Part) -> Mapping[str, str]:
        """Return the target's id by the prompt's id."""
        if len(text) > MAX_LABELS:
            raise format_error(
                f"the answer has {count_noun(len(text), 'character')}; at most {MAX_LABELS} are read",
                text[:60],
            )
        # With any digit it must be pairs; letters alone are the targets of 1, 2, 3 … in turn.
        if any("0" <= c <= "9" for c in text):
            return self._pairs(text, part)
        labels = [option.id for option in part.options]
        targets = read_labels(text, labels, "targets", in_order=True)
        if len(targets) != len(part.prompts):
            raise format_error(
                f"there are {count_noun(len(targets), 'letter')} for "
                f"{count_noun(len(part.prompts), 'number')}",
                text,
                self._expected(part),
            )
        return dict(zip((prompt.id for prompt in part.prompts), targets, strict=True))

    def _expected(self, part: Part) -> str:
        return f"pairs such as 1-{part.options[-1].id}, 2-a"

    def _pairs(self, text: str, part: Part) -> Mapping[str, str]:
        targets = {option.id for option in part.options}
        prompts = {prompt.id for prompt in part.prompts}
        pairs: dict[str, str] = {}
        for prompt, target in self._by_text(text, part) or self._by_letter(text, part):
            if prompt not in prompts:
                raise format_error(f"there is no number {prompt}", text, self._expected(part))
            if target not in targets:
                raise format_error(f"there is no {target} among the targets", text, self._expected(part))
            if prompt in pairs:
                raise format_error(f"number {prompt} is answered twice", text, self._expected(part))
            pairs[prompt] = target
        return pairs

    def _by_letter(self, text: str, part: Part) -> list[tuple[str, str]]:
        try:
            return read_pairs(text)
        except ResponseFormatError as fault:
            raise format_error(fault.what, text, self._expected(part)) from None

    @staticmethod
    def _by_text(text: str, part: Part) -> list[tuple[str, str]] | None:
        """Return the pairs of numbers and targets' texts, None if that isn't what was typed."""
        targets = {same_words(option.text.plain): option.id for option in part.options}
        marks = list(_NUMBER.finditer(text))
        if not marks or text[: marks[0].start()].strip(" {[\n"):
            return None
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        pairs = [
            (str(int(mark[1])), targets.get(same_words(text[mark.end() : end].strip(" ,;\n\t{}[]"))))
            for mark, end in zip(marks, ends, strict=True)
        ]
        known = [(prompt, target) for prompt, target in pairs if target is not None]
        return known if len(known) == len(pairs) else None

    def judge(self, part: Part, answer: Mapping[str, str]) -> AnswerJudgement:
        """Judge pairs by the part's policy; a number left out is wrong."""
        right = dict(zip((prompt.id for prompt in part.prompts), part.key_ids, strict=True))
        wrong = [prompt for prompt in part.prompts if answer.get(prompt.id) != right[prompt.id]]
        if not wrong:
            return AnswerJudgement(1, "Right.")
        names = join_words([prompt.id for prompt in wrong])
        hits = len(right) - len(wrong)
        message = (
            f"{hits} of {count_noun(len(right), 'pair')} {agree(hits, 'are')} right; {names} "
            f"{agree(len(wrong), 'are')} not."
        )
        feedback = [prompt.feedback for prompt in wrong if prompt.feedback and prompt.id in answer]
        share = Fraction(hits, len(right)) if self._policy(part) == "each-answer" else Fraction(0)
        return AnswerJudgement(share, " ".join([message, *dict.fromkeys(feedback)]))

    @staticmethod
    def _policy(part: Part) -> str:
        return MatchingSettings.of(part).policy

    def right_responses(self, part: Part) -> list[str]:
        """Return the pairs in several notations, and the letters alone."""
        pairs = list(zip((prompt.id for prompt in part.prompts), part.key_ids, strict=True))
        return [
            ", ".join(f"{p}-{t}" for p, t in pairs),
            " ".join(f"{p}{t}" for p, t in pairs),
            "; ".join(f"{p}: {t.upper()}" for p, t in reversed(pairs)),
            "\n".join(f"{p} = {t}" for p, t in pairs),
            " ".join(part.key_ids),
        ]

    def wrong_responses(self, part: Part) -> list[tuple[str, str | None]]:
        """Return the pairs with the first one changed."""
        other = next(option.id for option in part.options if option.id != part.key_ids[0])
        targets = [other, *part.key_ids[1:]]
        return [(", ".join(f"{p.id}-{t}" for p, t in zip(part.prompts, targets, strict=True)), None)]

    def blank_hint(self, part: Part) -> str:
        """Return e.g. ``a letter for each number, such as 1-c, 2-a``."""
        return f"a letter for each number, such as 1-{part.options[-1].id}, 2-a"

    def policy(self, part: Part) -> str:
        """Return the scoring rule in one sentence."""
        if self._policy(part) == "each-answer":
            return "each right pair earns its share"
        return "all pairs must be right"

    def chance_score(self, part: Part) -> float:
        """Return the mean share of who picks a target at random for each number."""
        chance = 1 / len(part.options)
        return chance if self._policy(part) == "each-answer" else chance ** len(part.prompts)

    def guess(self, part: Part) -> GuessScore:
        """Return what any target for each prompt earns: the number of right pairs is binomial."""
        count, chance = len(part.prompts), 1 / len(part.options)
        other = {
            key: next((option.id for option in part.options if option.id != key), key) for key in part.key_ids
        }

        def share(hits: int) -> float:
            targets = [key if i < hits else other[key] for i, key in enumerate(part.key_ids)]
            pairs = dict(zip((prompt.id for prompt in part.prompts), targets, strict=True))
            return float(self.judge(part, pairs).fraction)

        return GuessScore(
            sum_chances(
                (share(hits), comb(count, hits) * chance**hits * (1 - chance) ** (count - hits))
                for hits in range(count + 1)
            )
        )

    def rekeyed(self, handed_out: Part, *, new: Part, old: Part, ids: Mapping[str, str]) -> Part:
        """Return the part with the targets that its prompts have now."""
        pairs = zip(new.prompts, new.key_ids, strict=True)
        target = {ids[prompt.id]: ids.get(key) for prompt, key in pairs if prompt.id in ids}
        keys = [key for prompt in handed_out.prompts if (key := target[prompt.id]) is not None]
        if len(keys) < len(handed_out.prompts):
            raise ValueError("a prompt belongs to a target that this variant doesn't show")
        return replace(handed_out, key_ids=tuple(keys))

    def key_words(self, part: Part) -> str:
        """Return each prompt with its target, in alphabetical order."""
        texts = {option.id: option.text.plain for option in part.options}
        pairs = zip((prompt.text.plain for prompt in part.prompts), part.key_ids, strict=True)
        return "; ".join(sorted(f"{prompt} - {texts[key]}" for prompt, key in pairs))
