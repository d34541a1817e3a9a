"""Nobody can tell right options from wrong ones without knowing the subject.

These cues show only over many variants of an item: words that mark one side of the options, a key that is
the longest or the shortest too often, a stem that has the key's words, and a number of right options that
is always the same. Students who meet two items of a kind learn such a habit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from engine.answers import kind_of
from engine.authoring.lint.subject import LintFinding, LintSubject
from engine.model import ChoiceOption, Part, Variant
from engine.text.words import agree, count_noun

ABSOLUTE = re.compile(
    r"\b(?:all|always|any(?! more)|anything|completely|cannot|can't|certainly|certainty|each(?! other)|"
    r"entirely|every|everything|exactly|guarantees?|guaranteed|must|never|no|nobody|none|nothing|only|perfectly|whatever|whenever)\b",
    re.IGNORECASE,
)
HEDGES = re.compile(
    r"\b(?:about|can(?!'t|not)|could(?!n't)|hardly|largely|likely|mainly|may|might|more or less|mostly|"
    r"often|partly|perhaps|possible|possibly|probably|rather|roughly|some|sometimes|tends?|usually)\b",
    re.IGNORECASE,
)
# Shares of right and of wrong options with such a word. Where they differ by 0.4, striking out (or ticking)
# by the word alone beats a coin by 20 points of 100; in texts written with care they differ by less.
WORD_GAP = 0.4
# A key is the longest of n in 1/n of the variants. Ten points above that is what "take the longest" earns
# more than guessing; "never the longest" leaves one option less to guess among, so it may not fall below a
# third of 1/n.
MOST_OFTEN = 0.10
LEAST_OFTEN = 1 / 3
# "Take the option with most words of the stem" must not be right more often than not.
ECHO = 0.5
_CONSPICUOUS = 25  # characters: among options that are all shorter than this, none stands out
_LEAST_SHOWN = 20  # different sets of options that a share is taken over
_GAP = re.compile(r"\b([Aa]n?) (?:…|\.\.\.|_{2,})")
_VOWEL = re.compile(r"[aeiou]", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{4,}")
# words that don't say what a text is about
_EMPTY = (
    "about after again also another because been before being between both compared does each either else "
    "even every from gets give given gives have here into itself just like made make makes many more most "
    "much must need needs none nothing only other others over same some step still such take takes than "
    "that their them then there these they this those through under until very well were what when where "
    "whether which while whose will with without would your choose apply statement statements true holds "
    "following"
)
_ROOT = 6  # letters of a word that count: compute, computes and computed are one


@dataclass(frozen=True, slots=True)
class _OptionSet:
    stem: str
    options: tuple[ChoiceOption, ...]

    @property
    def right(self) -> int:
        return sum(option.correct for option in self.options)

    def share_of_key(self, size: Callable[[ChoiceOption], float]) -> float:
        """Return how likely the option of the greatest size is right, if ties are broken by chance."""
        sizes = [size(option) for option in self.options]
        first = [o for o, s in zip(self.options, sizes, strict=True) if s == max(sizes)]
        return sum(option.correct for option in first) / len(first)

    @property
    def by_chance(self) -> float:
        return self.right / len(self.options)


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield cues to the right options of a choice over the variants of the item."""
    for name, answer in subject.spec.answers:
        if not kind_of(answer.type).picks_options or not getattr(answer, "options", ()):
            continue  # the options of a computed key are numbers
        option_sets = list(_distinct(subject.variants, name))
        yield from _words(subject, name, option_sets)
        yield from _articles(subject, name, option_sets)
        if len(option_sets) >= _LEAST_SHOWN:
            yield from _lengths(subject, name, option_sets)
            yield from _echoes(subject, name, option_sets)
        if answer.type == "multiple_choice":
            yield from _count(subject, name, option_sets)


def _distinct(variants: Sequence[Variant], name: str) -> Iterator[_OptionSet]:
    """Yield each set of options once, however often it was drawn."""
    known_texts = set()
    for variant in variants:
        part: Part = next(part for part in variant.parts if part.id == name)
        texts = frozenset((option.text.plain, option.correct) for option in part.options)
        if texts not in known_texts:
            known_texts.add(texts)
            stem = " ".join([variant.stem.plain, part.prompt.plain if part.prompt else ""])
            yield _OptionSet(stem, part.options)


def _words(subject: LintSubject, name: str, option_sets: Sequence[_OptionSet]) -> Iterator[LintFinding]:
    for pattern, kind in ((ABSOLUTE, "absolute words"), (HEDGES, "hedging words")):
        sides: dict[bool, list[bool]] = {True: [], False: []}
        for each in option_sets:
            for option in each.options:
                sides[option.correct].append(pattern.search(option.text.plain) is not None)
        right, wrong = (mean(sides[side] or [False]) for side in (True, False))
        if abs(right - wrong) > WORD_GAP:
            side = "right" if right > wrong else "wrong"
            yield subject.warning(
                f"{kind} mark the {side} options",
                (*subject.loc_of(name), "options"),
                expected=f"shares that differ by at most {WORD_GAP:g}",
                got=f"{right:.2f} of the right options have one, {wrong:.2f} of the wrong ones",
                next_step="reword some: a true statement may be absolute, and a false one cautious",
            )


def _articles(subject: LintSubject, name: str, option_sets: Sequence[_OptionSet]) -> Iterator[LintFinding]:
    for each in option_sets:
        match = _GAP.search(each.stem)
        fitting = [
            o
            for o in each.options
            if match and bool(_VOWEL.match(o.text.plain)) == (match[1].lower() == "an")
        ]
        if fitting and len(fitting) < len(each.options) and all(option.correct for option in fitting):
            yield subject.warning(
                f"only the right option fits after {match[1]!r}" if match else "",
                ("stem",),
                next_step="write a(n), or put the article into the options",
            )
            return


def _lengths(subject: LintSubject, name: str, option_sets: Sequence[_OptionSet]) -> Iterator[LintFinding]:
    telling = [each for each in option_sets if max(map(_length, each.options)) > _CONSPICUOUS]
    if len(telling) < _LEAST_SHOWN:
        return
    chance = mean(each.by_chance for each in telling)
    for sign, which in ((1, "longest"), (-1, "shortest")):
        share = mean(each.share_of_key(_length if sign > 0 else _shortness) for each in telling)
        if not LEAST_OFTEN * chance <= share <= chance + MOST_OFTEN:
            yield subject.warning(
                f"the {which} option is right too {'often' if share > chance else 'seldom'}",
                (*subject.loc_of(name), "options"),
                expected=f"between {LEAST_OFTEN * chance:.2f} and {chance + MOST_OFTEN:.2f} of the variants",
                got=f"{share:.2f}",
                next_step="lengthen or shorten some of the options",
            )


def _echoes(subject: LintSubject, name: str, option_sets: Sequence[_OptionSet]) -> Iterator[LintFinding]:
    def overlap(each: _OptionSet) -> float:
        stem = words_of(each.stem)
        return each.share_of_key(lambda option: len(words_of(option.text.plain) & stem))

    # where all options have equally many of the stem's words, they are no cue
    telling = [each for each in option_sets if _differs(each)]
    if len(telling) < len(option_sets) / 2:
        return
    share, chance = mean(map(overlap, telling)), mean(each.by_chance for each in telling)
    if share > max(ECHO, chance + ECHO / 2):
        yield subject.warning(
            "the option with most words of the stem is right in most variants",
            (*subject.loc_of(name), "options"),
            expected=f"at most {max(ECHO, chance + ECHO / 2):.2f} of the variants",
            got=f"{share:.2f}",
            next_step="take the key's words out of the stem, or put some of them into wrong options",
        )


def _differs(each: _OptionSet) -> bool:
    stem = words_of(each.stem)
    return len({len(words_of(option.text.plain) & stem) for option in each.options}) > 1


def _count(subject: LintSubject, name: str, option_sets: Sequence[_OptionSet]) -> Iterator[LintFinding]:
    counts = {each.right for each in option_sets}
    if len(option_sets) > 1 and len(counts) == 1 and len(option_sets[0].options) > 2:
        right, of = counts.pop(), count_noun(len(option_sets[0].options), "option")
        yield subject.warning(
            f"{right} of {of} {agree(right, 'are')} right in every variant",
            (*subject.loc_of(name), "draw"),
            expected="a number that differs from variant to variant",
            next_step="say only how many options are shown: draw: 6",
        )


def words_of(text: str) -> set[str]:
    """Return the words of four letters and more that say what a text is about, by their first six letters."""
    return {word[:_ROOT] for word in _WORD.findall(text.casefold()) if word not in _EMPTY.split()}


def _shortness(option: ChoiceOption) -> int:
    return -_length(option)


def _length(option: ChoiceOption) -> int:
    return len(" ".join(option.text.plain.split()))
