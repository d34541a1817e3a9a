"""Canvas as a client of the same-mark table: packages are read and marked by its documented rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction

from docs.generators.same_marks import RuledMark, Subject
from engine.export.exported_fields import (
    ChoiceField,
    EssayField,
    ExportedField,
    MatchField,
    NumbersField,
    OrderField,
    WordsField,
)
from engine.export.exported_item import ExportedQuiz
from engine.export.formats.canvas import FORMAT
from tests.clients.sample_answers import SampleAnswer
from tests.oracles.canvas_rules import (
    CanvasQuestion,
    Entered,
    mark_canvas,
    read_canvas_package,
    typed_number,
)

__all__ = ["CanvasClient", "canvas_client"]

PLAIN, LISTED, ENTRIES = "Canvas: plain numbers", "Canvas: listed texts", "Canvas: blank by blank"
NET, PLACES, PAIRS = "Canvas: right less wrong", "Canvas: place by place", "Canvas: pair by pair"
NEAR, OWN_VALUES, PERSON = "Canvas: no near misses", "Canvas: only the key", "Canvas: a person"
RULES: Mapping[str, str] = {
    PLAIN: "Canvas takes a number with a decimal point or an exponent, rounds it to four decimals, and "
    "empties the field of anything else, which is then wrong.",
    LISTED: "Canvas compares what is typed into a blank, or as a text, with the listed texts, whatever the "
    "case; numbers in blanks are listed with the decimals asked for.",
    ENTRIES: "Canvas marks each blank on its own, and each earns the same share.",
    NET: "Canvas takes the share of wrong picks off that of right ones, whatever our rule.",
    PLACES: "Canvas marks the place of each card; a place may be named twice, or left out.",
    PAIRS: "Canvas marks each pair on its own.",
    NEAR: "Canvas gives nothing for a number that is nearly right.",
    OWN_VALUES: "we also mark a step with the student's own earlier values; Canvas knows only the key.",
    PERSON: "a person marks words, here and there; until then neither shows a mark.",
}


@contextmanager
def canvas_client() -> Iterator[CanvasClient]:
    """Return the marker; it needs nothing that runs."""
    yield CanvasClient()


class CanvasClient:
    """Classic Quizzes, by their rules."""

    name = "Canvas (by its rules)"
    rules = RULES
    tolerance = 1e-6

    def carries(self, subject: Subject) -> bool:
        """A question takes all but answers in words beside other fields."""
        return not any(loss.is_refusal for loss in FORMAT.losses(subject.family))

    def marks(self, subject: Subject) -> list[float | None]:
        """Return its marks; None where a person marks."""
        question = _question(subject)
        found = [mark_canvas(question, _entered(question, subject, answer)) for answer in subject.answers]
        return [None if share is None else float(share) * subject.item.points for share in found]

    def expected(
        self, subject: Subject, answer: Sequence[SampleAnswer], ours: float | None
    ) -> RuledMark | None:
        """Return the mark that its rules give, where it isn't ours."""
        item, question = subject.item, _question(subject)
        if any(isinstance(field, EssayField) for field in item.fields):
            return RuledMark(PERSON, None)
        found = [_ruled(question, field, one) for field, one in zip(item.fields, answer, strict=True)]
        shares = [share for ruled, _ in found for share in ruled]
        mark = float(sum(shares) / len(shares)) * item.points
        if ours is not None and abs(mark - ours) < 1e-6:
            return None
        # what the same shares would earn with the points that we give each step
        weighted = sum(
            item.points * worth * float(sum(ruled) / len(ruled))
            for (ruled, _), worth in zip(found, item.shares(), strict=True)
        )
        rules = [rule for _, rule in found if rule]
        if ours is not None and abs(weighted - ours) < self.tolerance:
            rules.insert(0, ENTRIES)
        elif ours is not None and ours > weighted and any(field.follows for field in item.fields):
            rules.insert(0, OWN_VALUES)
        return RuledMark(next(iter(rules), ENTRIES), mark)


def _question(subject: Subject) -> CanvasQuestion:
    package = FORMAT.write(ExportedQuiz("marks", "Marks", (subject.family,)), lambda: None)
    (question,) = read_canvas_package(package).questions
    return question


def _entered(question: CanvasQuestion, subject: Subject, answer: Sequence[SampleAnswer]) -> Entered:
    """Return what the page sends for an answer."""
    if question.type == "fill_in_multiple_blanks_question":
        texts = [text for f, one in zip(subject.item.fields, answer, strict=True) for text in _typed(f, one)]
        return dict(zip(question.blanks, texts, strict=True))
    (field,), (one,) = subject.item.fields, answer
    match field:
        case ChoiceField(options=options):
            ids = [a.id for a, o in zip(question.answers, options, strict=True) if o.id in one.picked]
            return set(ids) if field.multiple else next(iter(ids), None)
        case MatchField(prompts=prompts, targets=targets):
            matches = dict(zip((target.id for target in targets), question.matches, strict=True))
            pairs = dict(one.pairs)
            lefts = zip(question.answers, prompts, strict=True)
            return {left.id: matches[pairs[prompt.id]] for left, prompt in lefts if prompt.id in pairs}
        case OrderField(cards=cards):
            places = list(question.matches)
            lefts = zip(question.answers, cards, strict=True)
            return {left.id: places[one.order.index(c.id)] for left, c in lefts if c.id in one.order}
    return one.entries[0]


def _typed(field: ExportedField, answer: SampleAnswer) -> Sequence[str]:
    """Return what is typed into the blanks of one field."""
    match field:
        case ChoiceField():
            return [", ".join(answer.picked)]
        case MatchField(prompts=prompts):
            return [dict(answer.pairs).get(prompt.id, "") for prompt in prompts]
        case OrderField(cards=cards):
            return [str(answer.order.index(c.id) + 1) if c.id in answer.order else "" for c in cards]
    return answer.entries


def _ruled(
    question: CanvasQuestion, field: ExportedField, answer: SampleAnswer
) -> tuple[Sequence[Fraction], str]:
    """Return what the blanks of a field, or all of it, earn by the rules, and the rule to cite."""
    match field:
        case ChoiceField(multiple=True, options=options):
            right = {option.id for option in options if option.correct}
            picked = set(answer.picked)
            net = Fraction(len(picked & right) - len(picked - right), len(right))
            return [max(Fraction(0), net)], NET
        case OrderField():
            placed = zip(answer.order or [None] * len(field.order), field.order, strict=True)
            return [Fraction(card == right) for card, right in placed], PLACES
        case MatchField():
            pairs = dict(answer.pairs)
            return [Fraction(pairs.get(p.id) == field.pairs[p.id]) for p in field.prompts], PAIRS
        case NumbersField() if question.type == "numerical_question":
            return _one_number(field, answer)
        case NumbersField() | WordsField():
            return _listed(question, field, answer)
    right = (
        {option.id for option in field.options if option.correct} if isinstance(field, ChoiceField) else set()
    )
    return [Fraction(bool(right & set(answer.picked)))], ""


def _one_number(field: NumbersField, answer: SampleAnswer) -> tuple[Sequence[Fraction], str]:
    (entry,), (text,) = field.entries, answer.entries
    number = typed_number(text)
    inside = number is not None and entry.lower <= number <= entry.upper
    near = entry.near is not None and number is not None and entry.near[0] <= number <= entry.near[1]
    return [Fraction(inside)], NEAR if near and not inside else PLAIN


def _listed(
    question: CanvasQuestion, field: NumbersField | WordsField, answer: SampleAnswer
) -> tuple[Sequence[Fraction], str]:
    """Return the shares of texts: those of the blanks that bear the field's name."""
    prefix = f"{field.id}_"
    blanks = [blank for blank in question.blanks if blank.startswith(prefix)] or [""]
    shares = []
    for blank, text in zip(blanks, answer.entries, strict=True):
        listed = {one.text.strip().lower() for one in question.answers if one.blank == blank}
        shares.append(Fraction(text.strip().lower() in listed))
    is_each = len(shares) > 1 and any(len(group) > 1 for group in getattr(field, "groups", ()))
    wrong_entries = [text for text, share in zip(answer.entries, shares, strict=True) if not share]
    spelt = all(typed_number(text) is not None for text in wrong_entries)
    return shares, ENTRIES if is_each and spelt else LISTED
