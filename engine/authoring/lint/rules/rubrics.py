"""A rubric can be applied: its sample keeps to the length asked for, titles give nothing away, and markers
know what earns a part of the points.

Two markers agree about an answer only as far as the rubric says what to look for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.answers import kind_of
from engine.answers.free_text import count_words, rubric_of, sample_of, word_limits
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.model import Part
from engine.text.words import count_noun, join_words, plain_points
from engine.text.yaml_errors import Loc

_MOST_CHOICES = 5  # 0, half a point … 2: more can't be told apart by "what earns full points" alone
_WORD = re.compile(r"[^\W\d_]{4,}")  # shorter words are in every sentence
_SAME_WORDS = 0.75  # share of a criterion's words that its title has: it is the criterion then
_FEW_WORDS = 4
_STATED = re.compile(r"at most (\d{1,4})\s+words")


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield what makes a rubric hard to apply, each fault once, with the first seed that shows it."""
    if subject.is_code:
        return
    reported: set[tuple[str, str]] = set()
    for seed, variant in enumerate(subject.variants):
        for part in variant.parts:
            if not kind_of(part.type).needs_person or part.type != "free_text":
                continue
            for key, finding in _faults(subject, part, seed):
                if (part.id, key) not in reported:
                    reported.add((part.id, key))
                    yield finding


def _faults(subject: LintSubject, part: Part, seed: int) -> Iterator[tuple[str, LintFinding]]:
    loc = subject.loc_of(part.id)
    sample = sample_of(part)
    words = 0 if sample is None else count_words(sample.plain)
    low, high = word_limits(part)
    if (low is not None and words < low) or (high is not None and words > high):
        limits = [f"at least {low}"] if low is not None else []
        limits += [f"at most {high}"] if high is not None else []
        message = f"the sample has {count_noun(words, 'word')}, and {join_words(limits)}"
        yield "sample", subject.fault(message, (*loc, "sample"), seed=seed)
    if high is None:
        message = "nothing says how long an answer may be: students write pages, and markers read them"
        yield "length", subject.warning(message, loc, next_step="state max_words")
    yield from _stated_limits(subject, part, seed, high)
    for index, criterion in enumerate(rubric_of(part)):
        place: Loc = (*loc, "rubric", index)
        if not criterion.levels and len(criterion.choices) > _MOST_CHOICES:
            choices = count_noun(len(criterion.choices), "choice")
            message = f"criterion {criterion.id} has {choices} of points, and says only what earns all"
            step = f"add levels, split it, or state a larger step than {plain_points(criterion.step)}"
            yield f"levels {criterion.id}", subject.warning(message, place, next_step=step)
        if _gives_away(criterion.title.plain, criterion.text.plain):
            message = f"the title of criterion {criterion.id} gives away what earns its points"
            step = "name the matter, not the answer: students see titles before they answer"
            yield f"title {criterion.id}", subject.warning(message, (*place, "title"), next_step=step)


def _stated_limits(
    subject: LintSubject, part: Part, seed: int, high: int | None
) -> Iterator[tuple[str, LintFinding]]:
    """Yield where the words of the question state another limit than the one that is counted against."""
    question = part.prompt or subject.variants[seed].stem
    for stated in _STATED.findall(question.plain):
        if int(stated) != high:
            has = "there is no max_words" if high is None else f"max_words is {high}"
            message = f"the question says at most {count_noun(int(stated), 'word')}, and {has}"
            step = f"state max_words: {stated}, or change the sentence"
            yield "stated", subject.warning(message, subject.loc_of(part.id), seed=seed, next_step=step)


def _gives_away(title: str, text: str) -> bool:
    in_text = {word.casefold() for word in _WORD.findall(text)}
    in_title = {word.casefold() for word in _WORD.findall(title)}
    return len(in_text) >= _FEW_WORDS and len(in_text & in_title) >= _SAME_WORDS * len(in_text)
