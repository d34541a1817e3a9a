"""Prompts and their targets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from engine.answers.answer_type import (
    AnswerJudgement,
    AnswerType,
    FieldContext,
    FieldDraft,
    FieldRenderer,
    OptionPool,
    letters,
    offered,
)
from engine.answers.parsing import MAX_LABELS, format_error, read_labels, read_pairs, same_words
from engine.draws.parameters import ImpossibleDraw
from engine.draws.stream import RandomStream
from engine.errors import ResponseFormatError
from engine.items import MatchingAnswer
from engine.model import ChoiceOption, Part
from engine.text.words import agree, count_noun, join_words

__all__ = ["Matching", "draft"]

# The number of a prompt at the beginning or behind a separator, before a target's text.
_NUMBER = re.compile(r"(?:\A|(?<=[\n,;{\[]))[ ]{0,4}\(?([0-9]{1,2})\)?[ ]{0,4}(?:->|=>|[-:=.)→–|])[ ]{0,4}")


class Matching(AnswerType):
    """A letter for each number; numbers may be left out."""

    name = "matching"
    shows_policy = True

    def parse(self, text: str, part: Part) -> Mapping[str, str]:
        """Return the target's id by the prompt's id.

        Raises
        ------
        ResponseFormatError
            It is neither pairs nor one letter for each number.
        """
        if len(text) > MAX_LABELS:
            raise format_error(
                f"the answer has {count_noun(len(text), 'character')}; at most {MAX_LABELS} are read",
                text[:60],
            )
        if any("0" <= c <= "9" for c in text):
            return self._pairs(text, part)
        labels = [option.id for option in part.options]
        letters = read_labels(text, labels, "targets", in_order=True)
        if len(letters) != len(part.prompts):
            what = (
                f"there are {count_noun(len(letters), 'letter')} for "
                f"{count_noun(len(part.prompts), 'number')}"
            )
            raise format_error(what, text, self._expected(part))
        return dict(zip((prompt.id for prompt in part.prompts), letters, strict=True))

    def _expected(self, part: Part) -> str:
        return f"pairs such as 1-{part.options[-1].id}, 2-a"

    def _pairs(self, text: str, part: Part) -> Mapping[str, str]:
        known = {option.id for option in part.options}
        prompts = {prompt.id for prompt in part.prompts}
        found: dict[str, str] = {}
        for prompt, target in self._by_text(text, part) or self._by_letter(text, part):
            if prompt not in prompts:
                raise format_error(f"there is no number {prompt}", text, self._expected(part))
            if target not in known:
                raise format_error(f"there is no {target} among the targets", text, self._expected(part))
            if prompt in found:
                raise format_error(f"number {prompt} is answered twice", text, self._expected(part))
            found[prompt] = target
        return found

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
        return str(part.settings.get("policy", "each-answer"))

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
        one = 1 / len(part.options)
        return one if self._policy(part) == "each-answer" else one ** len(part.prompts)


# ----------------------------------------------------------------------------------------------------
# Matching: each prompt belongs to one target.


def draft(answer: MatchingAnswer, context: FieldContext) -> FieldDraft:
    """Draft a matching field; prompts get numbers, targets letters.

    Raises
    ------
    ImpossibleDraw
        A prompt belongs to a target that isn't there, or there are fewer prompts than ``draw`` asks for.
    """
    kept = [answer.targets[i] for i in offered(answer.targets, context.names)]
    known = [target.id for target in kept]
    there = offered(answer.prompts, context.names)
    pool = OptionPool(("prompts", there, answer.draw))
    for prompt in (answer.prompts[i] for i in there):
        if prompt.target not in known:
            raise ImpossibleDraw(f"there is no target {prompt.target}")

    def build(scribe: FieldRenderer, stream: RandomStream) -> Part:
        prompts = stream.shuffled([answer.prompts[i] for i in pool.draw(stream)])
        targets = stream.shuffled(kept)
        letter = dict(zip((target.id for target in targets), letters(len(targets)), strict=True))
        left = tuple(
            ChoiceOption(
                str(number),
                scribe.text(prompt.text, "prompt", inline=True),
                feedback=scribe.feedback(prompt.feedback),
            )
            for number, prompt in enumerate(prompts, start=1)
        )
        right = tuple(
            ChoiceOption(letter[target.id], scribe.text(target.text, "target", inline=True))
            for target in targets
        )
        keys = tuple(letter[prompt.target] for prompt in prompts)
        settings = {"policy": answer.policy}
        return Part("", answer.type, 1.0, key_ids=keys, options=right, prompts=left, settings=settings)

    return FieldDraft(None, pool.signature, build)
