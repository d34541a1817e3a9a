"""Writes docs/same-marks.md: what clients that others wrote make of answers, beside our own marks.

Usage: python -m docs.generators.same_marks [FILE], in the repository, after ``make browser clients``

Each client is a :class:`MarkingClient`. Where a mark may differ from ours, a client names the rule that says
so, and the mark that the rule gives: the difference is explained only if the client gave exactly that.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from engine.answers import kind_of
from engine.answers.follow_through import carry_forward
from engine.export.exported_item import ExportedFamily, ExportedItem, exported_item
from engine.grading import grade_answers
from engine.items.bank import builtin_bank
from engine.model import Mode, Response, Variant
from engine.text.words import count_noun, plain_points
from engine.variants import draw_seeded
from tests.clients.sample_answers import SampleAnswer, sample_answers

SEED = 3
PAGE = Path("docs/same-marks.md")


@dataclass(frozen=True)
class Subject:
    """One item that clients are tried with.

    Parameters
    ----------
    kind : str
        The heading under which it stands.
    family : ExportedFamily
        Of one variant.
    answers : tuple of tuple of SampleAnswer
        An answer to each field; all fields but one are answered rightly.
    """

    kind: str
    family: ExportedFamily
    answers: tuple[tuple[SampleAnswer, ...], ...]

    @property
    def item(self) -> ExportedItem:
        """The variant."""
        return self.family.items[0]

    def ours(self) -> list[float | None]:
        """Return our own marks; None where we refuse an answer, or a person must mark it."""
        variant = self.item.variant
        return [
            grade_answers(
                variant,
                Response({part.id: one.text for part, one in zip(variant.parts, answer, strict=True)}),
                mode=Mode.PRACTICE,
                student=None,
            ).score
            for answer in self.answers
        ]


@dataclass(frozen=True)
class RuledMark:
    """What a rule of a client makes of an answer."""

    rule: str
    mark: float | None


class MarkingClient(Protocol):
    """A client that marks answers."""

    name: str
    """As the heading of its column."""
    rules: Mapping[str, str]
    """Short name of each rule, and the sentence that explains it."""
    tolerance: float
    """How far a mark may be off because the client rounds it."""

    def carries(self, subject: Subject) -> bool:
        """Return whether the client's format holds such an item."""

    def marks(self, subject: Subject) -> Sequence[float | None]:
        """Return its mark of each answer; None where it refuses one, or a person marks it."""

    def expected(
        self, subject: Subject, answer: Sequence[SampleAnswer], ours: float | None
    ) -> RuledMark | None:
        """Return the mark that differs by a rule; None where it must be ours."""


@contextmanager
def marking_clients() -> Iterator[list[MarkingClient]]:
    """Open all clients; a format adds its own here."""
    from tests.clients.canvas_marks import canvas_client
    from tests.clients.moodle_marks import moodle_clients
    from tests.clients.openedx_marks import openedx_client
    from tests.clients.qti_marks import qti_clients

    with ExitStack() as stack:
        yield [
            *stack.enter_context(qti_clients()),
            *moodle_clients(),
            stack.enter_context(openedx_client()),
            stack.enter_context(canvas_client()),
        ]


# Heading: items of the bank, each with the settings that are changed so that every policy is tried.
_SUBJECTS: Mapping[str, Sequence[tuple[str, Mapping[str, object]]]] = {
    "One of several options": [
        (item, {})
        for item in (
            "alignment-orientation",
            "beam-width-one",
            "bottleneck-why",
            "context-bounds",
            "exploding-case",
            "general-attention-shapes",
            "permutation-of-tokens",
            "soft-alignment-learned",
            "softmax-shift",
            "softmax-stability",
        )
    ],
    "Several options, all or nothing": [("history-impact", {"policy": "exact"})],
    "Several options, right picks less wrong ones": [("history-impact", {"policy": "net-correct"})],
    "Several options, each decision counts": [("history-impact", {"policy": "each-answer"})],
    "Several options, share found times share right": [("history-impact", {"policy": "coverage"})],
    "An order, all or nothing": [("decoder-step-order", {"policy": "exact"})],
    "An order, place by place": [("decoder-step-order", {"policy": "positions"})],
    "An order, pair by pair": [("decoder-step-order", {"policy": "pairs"})],
    "Pairs, each counts": [("limiting-cases", {"policy": "each-answer"})],
    "Pairs, all or nothing": [("limiting-cases", {"policy": "exact"})],
    "A number": [("scaled-dot-score", {})],
    "A whole number": [("additive-params", {})],
    "A number, with credit for near misses": [("scaled-dot-score", {"near_credit": 0.5})],
    "A vector, each entry counts": [("context-vector", {"partial": "per-entry", "near_credit": 0.25})],
    "A vector, all or nothing": [("softmax-weights", {"partial": "all"})],
    "A matrix, each row counts": [("sdpa-matrix", {"partial": "per-row"})],
    "Steps that follow one another": [("memory-weights", {})],
    "A sequence of tokens": [("greedy-path", {})],
    "Sequences of tokens": [("beam-survivors", {})],
    "An answer in words": [("own-context-explained", {})],
}

# Said below a heading.
_REMARKS: Mapping[str, str] = {
    "An answer in words": "A person marks these everywhere: no client gives them a score of its own, "
    "whatever is written. So one answer and a blank one stand for all."
}


def subjects() -> Iterator[Subject]:
    """Yield the items of the page with their answers."""
    bank = builtin_bank()
    for kind, entries in _SUBJECTS.items():
        for number, (item, changes) in enumerate(entries, start=1):
            spec = bank.load(item)
            variant = _changed(
                draw_seeded(spec, version=bank.version(item), registry=bank.registry(), seed=SEED), changes
            )
            name = f"{item}-{'-'.join(str(c) for c in changes.values()) or number}".replace(".", "")
            family = ExportedFamily(
                item, spec.title, ("Attention",), (item,), variant.points, "", (exported_item(name, variant),)
            )
            yield Subject(kind, family, tuple(_answers(variant)))


def _changed(variant: Variant, changes: Mapping[str, object]) -> Variant:
    parts = tuple(replace(part, settings={**part.settings, **changes}) for part in variant.parts)
    return replace(variant, parts=parts) if changes else variant


def _answers(variant: Variant) -> Iterator[tuple[SampleAnswer, ...]]:
    by_part = [sample_answers(part) for part in variant.parts]
    right = [answers[0] for answers in by_part]
    for at, answers in enumerate(by_part):
        for answer in answers:
            yield tuple(answer if i == at else one for i, one in enumerate(right))
    # a mistake in a step, with which the next one is then computed rightly
    for at, part in enumerate(variant.parts[1:], start=1):
        for answer in by_part[at - 1]:
            if answer.what != "mistake":
                continue
            before = [*right[: at - 1], answer]
            texts = {p.id: one.text for p, one in zip(variant.parts, before, strict=False)}
            steps = {p.id: kind_of(p.type).parse(texts[p.id], p) for p in variant.parts[:at]}
            carried = carry_forward(variant, part, steps).part
            if carried is not None:
                yield (*before, sample_answers(carried)[0], *right[at + 1 :])


@dataclass(frozen=True)
class Comparison:
    """What one client made of one answer.

    Parameters
    ----------
    subject : Subject
    answer : tuple of SampleAnswer
    ours : float or None
    theirs : float or None
    rule : str
        The rule that explains a difference; empty where there is none to explain.
    is_explained : bool
    """

    subject: Subject
    answer: tuple[SampleAnswer, ...]
    ours: float | None
    theirs: float | None
    rule: str
    is_explained: bool


def compared(client: MarkingClient, subject: Subject, ours: Sequence[float | None]) -> list[Comparison]:
    """Return a client's marks beside ours."""
    found = []
    for answer, own, theirs in zip(subject.answers, ours, client.marks(subject), strict=True):
        rule = client.expected(subject, answer, own)
        wanted = own if rule is None else rule.mark
        is_same = _are_alike(theirs, wanted, client.tolerance)
        differs = not _are_alike(theirs, own, client.tolerance)
        # without a mark the rule says why, even where we have none either
        name = rule.rule if rule is not None and (differs or theirs is None) else ""
        found.append(Comparison(subject, answer, own, theirs, name, is_same))
    return found


def _are_alike(mark: float | None, other: float | None, tolerance: float) -> bool:
    if mark is None or other is None:
        return mark is other
    return abs(mark - other) <= tolerance


Results = Mapping[str, Sequence[Comparison]]
"""Comparisons by the name of the client."""


def results(clients: Sequence[MarkingClient]) -> dict[str, list[Comparison]]:
    """Try all answers in all clients."""
    found: dict[str, list[Comparison]] = {client.name: [] for client in clients}
    for subject in subjects():
        ours = subject.ours()
        for client in clients:
            if client.carries(subject):
                found[client.name] += compared(client, subject, ours)
    return found


def page(clients: Sequence[MarkingClient], found: Results) -> str:
    """Return the page in Markdown."""
    names = [client.name for client in clients]
    unexplained = sum(not one.is_explained for comparisons in found.values() for one in comparisons)
    lines = [_HEAD, "", "## Summary", "", _SUMMARY.format(unexplained=unexplained), ""]
    lines += _table(["answers to", *names], list(_summary(names, found)))
    lines += ["", "## Why a mark may differ", ""]
    rules = {name: sentence for client in clients for name, sentence in client.rules.items()}
    used = Counter(one.rule for comparisons in found.values() for one in comparisons if one.rule)
    lines += [
        f"- **{name}** ({count_noun(used[name], 'answer')}): {rules[name]}" for name in rules if used[name]
    ]
    lines += ["", "## All answers", ""]
    for kind in _SUBJECTS:
        lines += [f"### {kind}", ""]
        lines += [_REMARKS[kind], ""] if kind in _REMARKS else []
        lines += [*_details(kind, names, found), ""]
    return "\n".join(lines).rstrip() + "\n"


_HEAD = """\
# The same mark everywhere

<!-- Written by `python -m docs.generators.same_marks`. -->

Exported items are answered in clients that others wrote, as a candidate answers them: texts are typed,
options clicked, cards moved. This page shows their marks beside ours, for right answers, each distractor,
numbers on both sides of every bound, other spellings, incomplete and blank answers, and nonsense. `make test`
tries them all again: a mark that differs from ours without one of the rules below fails it.

In the tables, *none* means that an answer has no mark: it is refused at no cost, as Softmark and Open edX do
with what they can't read, or it waits for a person. A dash means that the format can't carry the item.

Canvas can't be run here. Its column is what its published rules give: `tests/oracles/canvas_rules.py` reads a
package as Canvas's importer does, refuses what that would lose, and marks as Classic Quizzes do.

To write this page again: `python -m docs.generators.same_marks`, after `make browser clients`."""

_SUMMARY = """\
How many answers get the same mark as here, and how many another one by a rule of the next section.
Differences that no rule explains: {unexplained}."""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(['---'] * len(head))}|"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def _summary(names: Sequence[str], found: Results) -> Iterator[list[str]]:
    for kind in _SUBJECTS:
        cells = []
        for name in names:
            of_kind = [one for one in found[name] if one.subject.kind == kind]
            same = sum(1 for one in of_kind if one.is_explained and not one.rule)
            by_rule = sum(1 for one in of_kind if one.is_explained and one.rule)
            wrong = len(of_kind) - same - by_rule
            counts = ((same, "same"), (by_rule, "by a rule"), (wrong, "unexplained"))
            cells.append(", ".join(f"{count} {what}" for count, what in counts if count) or "–")
        yield [kind, *cells]


def _details(kind: str, names: Sequence[str], found: Results) -> list[str]:
    rows: dict[tuple[str, str, str], dict[str, str]] = {}
    for name in names:
        for one in found[name]:
            if one.subject.kind == kind:
                key = (one.subject.family.item, _shown(one.answer), _mark(one.ours))
                rows.setdefault(key, {})[name] = _mark(one.theirs) + (f" ({one.rule})" if one.rule else "")
    return _table(
        ["item", "answer", "ours", *names],
        [
            [item, answer, ours, *[marks.get(n, "–") for n in names]]
            for (item, answer, ours), marks in rows.items()
        ],
    )


def _mark(points: float | None) -> str:
    return "none" if points is None else str(plain_points(round(points, 3)))


def _shown(answer: Sequence[SampleAnswer]) -> str:
    """Return an answer as code, on one line; steps are separated by ``·``."""
    texts = []
    for one in answer:
        words = (
            " ".join((one.text or "".join(one.entries) or "").split("\n")).replace("|", "/").replace("`", "'")
        )
        texts.append(f"`{words}`" if words.strip() else "(blank)")
    return " · ".join(texts)


def main(path: str = str(PAGE)) -> None:
    """Write the page."""
    with marking_clients() as clients:
        found = results(clients)
        Path(path).write_text(page(clients, found), encoding="utf-8")
    wrong = [one for comparisons in found.values() for one in comparisons if not one.is_explained]
    for one in wrong[:20]:
        marks = f"ours {_mark(one.ours)}, theirs {_mark(one.theirs)}"
        sys.stdout.write(f"{one.subject.kind}: {_shown(one.answer)}: {marks} {one.rule}\n")
    total = sum(map(len, found.values()))
    sys.stdout.write(f"{count_noun(total, 'mark')} compared, {len(wrong)} unexplained\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
