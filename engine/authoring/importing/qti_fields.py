"""The fields of a QTI 3 item in which something is picked: choices, orders and pairs.

Each field is tried out alone, while the others stay empty: what it earns then is its share of the points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, islice, permutations

from engine.answers.multiple_choice import score_of
from engine.authoring.importing.foreign_question import (
    NOTHING,
    ForeignQuestion,
    ForeseenAnswer,
    ImportNote,
    MatchingPair,
    QuestionKind,
)
from engine.authoring.importing.qti_item import QtiItem, QtiTrial, html_of, marked, plain_words
from engine.authoring.importing.qti_values import QtiPicks, QtiValue, QtiVariable
from engine.authoring.importing.question_texts import UnfitError
from engine.authoring.importing.to_markdown import convert
from engine.authoring.importing.xml_tree import XmlElement
from engine.prose.markdown import render_prose

# scores are doubles, and players round them to three decimals
CLOSE = 1e-3
# All 2^n selections of so many options are tried; with more, one for each number of hits and false picks.
_ALL = 8
_MOST_OPTIONS = 60
# 4! orders and their like tell our rules apart; the cards that are moved stand at the beginning
_MOST_ORDERS = 24
_POLICIES = ("net-correct", "exact", "each-answer", "coverage")


@dataclass(slots=True)
class FieldTrials:
    """Tries out one field.

    Parameters
    ----------
    item : QtiItem
    name : str
        Of its response.
    always : frozenset of int
        Feedbacks that are shown whatever is answered.
    """

    item: QtiItem
    name: str
    always: frozenset[int]
    _empty: QtiTrial | None = None

    @property
    def variable(self) -> QtiVariable:
        """The declared response."""
        return self.item.responses[self.name]

    def trial(self, value: QtiValue) -> QtiTrial:
        """Return what a value of this field gives while the others are empty: points, and its feedback."""
        if self._empty is None:
            self._empty = self.item.try_out({})
        made = self.item.try_out({self.name: value})
        return QtiTrial(made.score - self._empty.score, made.visible - self.always)

    def share(self, value: QtiValue, full: float) -> Fraction:
        """Return what a value earns as a share of the field's points."""
        return as_share(self.trial(value).score, full)


def as_share(score: float, full: float) -> Fraction:
    """Return a score as a share, without the noise of doubles."""
    if full <= 0:
        return Fraction(0)
    share = Fraction(score / full).limit_denominator(1000)
    return max(Fraction(-1), min(Fraction(1), share))


def choice_field(
    question: ForeignQuestion, interaction: XmlElement, trials: FieldTrials
) -> tuple[ForeignQuestion, float]:
    """Return a choice, and what it earns.

    Parameters
    ----------
    question : ForeignQuestion
        What all kinds share.
    interaction : XmlElement
    trials : FieldTrials

    Raises
    ------
    UnfitError
        It has too many options.
    UnreadRules
        The rules can't be carried out here.
    """
    options = [e for e in interaction.inside() if e.tag in ("qti-simple-choice", "qti-inline-choice")]
    if len(options) > _MOST_OPTIONS:
        raise UnfitError(f"it has over {_MOST_OPTIONS} options", "drop some")
    names = [option.attributes.get("identifier", "") for option in options]
    is_single = trials.variable.cardinality == "single"
    wrap = (lambda name: name) if is_single else (lambda name: QtiPicks([name]))
    tried = [trials.trial(wrap(name)) for name in names]
    right = _right_names(names, tried, trials)
    full = trials.trial(right[0] if is_single else QtiPicks(right)).score if right else 0.0
    answers = []
    # what is shown for no pick at all says nothing about an option
    common = frozenset[int]() if is_single else trials.trial(None).visible
    for option, name, made in zip(options, names, tried, strict=True):
        if is_single:
            fraction = as_share(made.score, full)
        else:
            fraction = Fraction(1, len(right)) if name in right else Fraction(0)
        feedback = trials.item.words(made.visible - common, f"({name})")
        answers.append(ForeseenAnswer(marked(option.content), fraction, feedback, option.place))
    question = replace(
        question,
        kind=QuestionKind.CHOICE,
        answers=tuple(answers),
        single=is_single,
        # our own export has shuffled them once and for all
        shuffle=trials.item.is_own or interaction.attributes.get("shuffle") == "true",
    )
    if is_single or not right or full <= 0:
        return question, full
    return _with_policy(question, names, right, full, trials), full


def _right_names(names: Sequence[str], tried: Sequence[QtiTrial], trials: FieldTrials) -> list[str]:
    """Return the right options: the declared ones if they earn something, else those that earn most."""
    correct = trials.variable.correct
    stated = correct if isinstance(correct, list) else [] if correct is None else [correct]
    known = [name for name in names if name in stated]
    is_single = trials.variable.cardinality == "single"
    if known and trials.trial(known[0] if is_single else QtiPicks(known)).score > CLOSE:
        return known
    best = max((made.score for made in tried), default=0.0)
    if best <= CLOSE:
        return []
    if is_single:
        return [name for name, made in zip(names, tried, strict=True) if made.score > best - CLOSE]
    return [name for name, made in zip(names, tried, strict=True) if made.score > CLOSE]


def _selections(names: Sequence[str], right: Sequence[str]) -> Iterator[list[str]]:
    if len(names) <= _ALL:
        for size in range(1, len(names) + 1):
            yield from map(list, combinations(names, size))
        return
    wrong = [name for name in names if name not in right]
    for hits in range(len(right) + 1):
        for false in range(len(wrong) + 1):
            if hits + false:
                yield [*right[:hits], *wrong[:false]]


def nearest_rule(
    names: Sequence[str], right: Sequence[str], theirs: Callable[[Sequence[str]], float]
) -> tuple[str, float]:
    """Return the policy whose scores are nearest to those of another system, and how far off it is at most.

    Parameters
    ----------
    names, right : sequence of str
        All options, and the right ones.
    theirs : callable
        Returns the score of a selection there, from 0 to 1.
    """
    scores = [(pick, theirs(pick)) for pick in _selections(names, right)]
    best: tuple[float, float, str] | None = None
    for policy in _POLICIES:
        gaps = [abs(score - float(score_of(policy, len(names), set(right), set(p)))) for p, score in scores]
        candidate = (sum(gaps), max(gaps, default=0.0), policy)
        best = candidate if best is None or candidate[0] < best[0] - CLOSE else best
    assert best is not None
    return best[2], best[1] if best[1] > CLOSE else 0.0


def _with_policy(
    question: ForeignQuestion, names: Sequence[str], right: Sequence[str], full: float, trials: FieldTrials
) -> ForeignQuestion:
    """Return the question with the policy that gives the same scores, or the nearest one and a note."""
    policy, off = nearest_rule(names, right, lambda picks: trials.trial(QtiPicks(picks)).score / full)
    if off:
        message = f"its rule for several picks isn't kept: '{policy}' is nearest"
        question = question.noting(ImportNote(message, question.place))
    return replace(question, policy=policy)


def order_field(
    question: ForeignQuestion, interaction: XmlElement, trials: FieldTrials
) -> tuple[ForeignQuestion, float]:
    """Return cards in their right order, and what it earns.

    Raises
    ------
    UnfitError
        No order is declared as correct, or not all cards are to be used.
    UnreadRules
        The rules can't be carried out here.
    """
    cards = {card.attributes.get("identifier", ""): card for card in interaction.every("qti-simple-choice")}
    correct = trials.variable.correct
    order = [str(name) for name in correct] if isinstance(correct, list) else []
    if sorted(order) != sorted(cards) or len(order) < 2:
        raise UnfitError("its correct response isn't an order of all its cards", "state one")
    full = trials.trial(list(order)).score
    orders = [list(o) for o in islice(permutations(order[:4]), 1, _MOST_ORDERS)]
    wrong = [[*head, *order[4:]] for head in orders] + [list(reversed(order))]
    tried = [(o, trials.trial([*o])) for o in wrong]
    policy, worst = _order_policy(order, [(o, made.score) for o, made in tried], full)
    if worst > CLOSE:
        message = f"its rule for orders isn't kept: '{policy}' is nearest"
        question = question.noting(ImportNote(message, question.place))
    visible = frozenset.intersection(*[made.visible for _, made in tried]) - trials.trial([*order]).visible
    answers = [ForeseenAnswer(marked(cards[n].content), Fraction(1), place=cards[n].place) for n in order]
    return replace(
        question,
        kind=QuestionKind.ORDERING,
        answers=tuple(answers),
        policy=policy,
        wrong=trials.item.words(visible) if visible else NOTHING,
    ), full


def _order_policy(
    order: Sequence[str], tried: Sequence[tuple[list[str], float]], full: float
) -> tuple[str, float]:
    def pairs(answer: Sequence[str]) -> float:
        at = {name: place for place, name in enumerate(answer)}
        in_order = [at[a] < at[b] for a, b in combinations(order, 2)]
        return max(0.0, 2 * sum(in_order) / len(in_order) - 1)

    def positions(answer: Sequence[str]) -> float:
        return sum(a == b for a, b in zip(answer, order, strict=True)) / len(order)

    rules = {"exact": lambda answer: 0.0, "positions": positions, "pairs": pairs}
    differences = {
        name: [abs(rule(answer) - score / full) if full > 0 else 1.0 for answer, score in tried]
        for name, rule in rules.items()
    }
    best = min(rules, key=lambda name: sum(differences[name]))
    return best, max(differences[best])


def match_field(
    question: ForeignQuestion, interaction: XmlElement, trials: FieldTrials, legend: dict[str, str]
) -> tuple[ForeignQuestion, float]:
    """Return pairs, and what they earn.

    Parameters
    ----------
    question : ForeignQuestion
    interaction : XmlElement
    trials : FieldTrials
    legend : dict of str to str
        HTML of what our own export writes above a table: the targets by their letters.

    Raises
    ------
    UnfitError
        A prompt has no partner or several.
    UnreadRules
        The rules can't be carried out here.
    """
    sets = list(interaction.every("qti-simple-match-set"))
    if len(sets) != 2:
        raise UnfitError("its pairs have no two sides", "write it as a matching item")
    prompts, targets = [
        {e.attributes.get("identifier", ""): e for e in side.every("qti-simple-associable-choice")}
        for side in sets
    ]
    correct = trials.variable.correct
    pairs = [str(pair).split() for pair in correct] if isinstance(correct, list) else []
    partners = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    is_whole = len(pairs) == len(prompts) and set(partners) == set(prompts)
    if not is_whole or not set(partners.values()) <= set(targets):
        raise UnfitError(
            "not each of its prompts has exactly one partner", "ask for each of them, or make a choice of it"
        )
    # one right pair alone tells both rules apart: it earns its share, or nothing
    full = trials.trial(QtiPicks([" ".join(pair) for pair in partners.items()])).score
    first_pair = " ".join(next(iter(partners.items())))
    share = as_share(trials.trial(QtiPicks([first_pair])).score, full)
    policy = "each-answer" if share == Fraction(1, len(partners)) else "exact"
    if share not in (0, Fraction(1, len(partners))):
        question = question.noting(ImportNote("its rule for pairs isn't kept: all or nothing here"))
    made = []
    for prompt, target in partners.items():
        wrong = next(name for name in targets if name != target) if len(targets) > 1 else ""
        visible = trials.trial(QtiPicks([f"{prompt} {wrong}"])).visible - trials.trial(None).visible
        # our own export puts the prompt's words before what is said about it
        lead = render_prose(convert(marked(prompts[prompt].content), inline=True).prose, inline=True).plain
        feedback = trials.item.words(visible, f"{lead.rstrip(' .')}:") if visible else NOTHING
        made.append((prompt, target, feedback))
    texts = {
        name: replace(marked(e.content), text=legend.get(plain_words(e), html_of(e.content).strip()))
        for name, e in targets.items()
    }
    result = [
        MatchingPair(marked(prompts[prompt].content), texts[target], prompts[prompt].place, feedback)
        for prompt, target, feedback in made
    ]
    used = set(partners.values())
    result += [MatchingPair(NOTHING, text, targets[n].place) for n, text in texts.items() if n not in used]
    return replace(question, kind=QuestionKind.MATCHING, pairs=tuple(result), policy=policy), full
