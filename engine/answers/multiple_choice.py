"""Several of several options."""

from __future__ import annotations

from engine.answers.policies import POLICIES, chance_of, score_of
from engine.answers.reading.labels import read_labels, read_texts, same_words
from engine.answers.result import AnswerType, Graded, listed
from engine.model import Diagnosis, Option, Part
from engine.plurals import agree, counted

__all__ = ["MultipleChoice"]


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

    def judge(self, part: Part, answer: frozenset[str]) -> Graded:
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
            return Graded(1, "Right.")
        return Graded(fraction, self._message(wrong, len(right - answer)), diagnosis)

    def _message(self, wrong: list[Option], missed: int) -> str:
        parts = []
        if wrong:
            names = listed([f"({option.id})" for option in wrong])
            parts.append(f"{names} {agree(len(wrong), 'do')}n't belong here.")
        if missed:
            parts.append(
                "A right option is missing."
                if missed == 1
                else f"{counted(missed, 'right option')} are missing."
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
