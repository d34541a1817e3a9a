"""A question of QTI 1.2 as its parts: what its metadata says, its texts, and its conditions, carried out.

Canvas writes this version of QTI, and so do other tools for it. As with QTI 3, answers are tried: which
option is right is what the conditions give for it, however they are written.
"""

from __future__ import annotations

import html
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from engine.authoring.importing.foreign_question import MarkedText, TextForm, read_decimal
from engine.authoring.importing.qti_item import html_of, without_prefixes
from engine.authoring.importing.qti_marking import TrialBudget, UnreadRules
from engine.authoring.importing.xml_tree import XmlElement

_FIELDS = ("response_lid", "response_str", "response_num", "response_grp", "response_xy")
_LABEL = "response_label"
_COMPARISONS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "vargte": operator.ge,
    "vargt": operator.gt,
    "varlte": operator.le,
    "varlt": operator.lt,
}
_COMPARED = ("varequal", *_COMPARISONS)
Entered = Mapping[str, Sequence[str]]
"""What is picked or typed, by the field's identifier."""


def material_html(holder: XmlElement) -> str:
    """Return the texts and pictures in an element as HTML, whatever form each is written in."""
    pieces: list[str] = []
    for element in holder.inside():
        if element.tag == "mattext":
            # HTML is escaped once more in the file; as elements it needs to be written again
            if element.children:
                pieces.append(html_of(element.content))
            elif element.attributes.get("texttype", "text/plain") == "text/plain":
                pieces.append(
                    f"<p>{html.escape(element.text, quote=False)}</p>" if element.text.strip() else ""
                )
            else:
                pieces.append(element.text)
        elif element.tag == "matimage":
            name = html.escape(element.attributes.get("label") or element.attributes.get("uri", ""))
            pieces.append(f'<img src="{name}"/>')
    return "\n".join(filter(None, pieces)).strip()


def material_text(holder: XmlElement) -> MarkedText:
    """Return the texts in an element as a text of a question."""
    return MarkedText(material_html(holder), TextForm.HTML)


def prompt_text(response: XmlElement) -> MarkedText:
    """Return what a field's own text says, without its options."""
    pieces = [material_html(material) for material in response.every("material")]
    return MarkedText("\n".join(pieces), TextForm.HTML)


@dataclass(frozen=True, slots=True)
class CanvasTrial:
    """What came out of an answer: the score, and the names of the feedbacks that are shown."""

    score: float
    visible: frozenset[str]


@dataclass
class CanvasItem:
    """One question.

    Parameters
    ----------
    root : XmlElement
        Its ``<item>``.
    budget : TrialBudget
        What may be tried in its package altogether.
    """

    root: XmlElement
    budget: TrialBudget
    metadata: dict[str, str] = field(default_factory=dict)
    fields: list[XmlElement] = field(default_factory=list)
    conditions: list[XmlElement] = field(default_factory=list)
    feedback: dict[str, XmlElement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        without_prefixes(self.root)
        self._count = self.budget.for_item()
        # one walk over the question finds everything, as it may have thousands of elements
        for element in self.root.inside():
            if element.tag == "qtimetadatafield":
                label, entry = element.first("fieldlabel"), element.first("fieldentry")
                if label is not None and entry is not None:
                    self.metadata[label.text.strip()] = entry.text.strip()
            elif element.tag == "respcondition":
                self.conditions.append(element)
            elif element.tag == "itemfeedback":
                self.feedback.setdefault(element.attributes.get("ident", ""), element)
        self._order = {name: n for n, name in enumerate(self.feedback)}
        self.presentation = self.root.first("presentation")
        if self.presentation is not None:
            self.fields = [e for e in self.presentation.inside() if e.tag in _FIELDS]

    @property
    def text(self) -> str:
        """HTML of what is asked: all that stands outside of the fields."""
        return "\n".join(self._texts(self.presentation)) if self.presentation is not None else ""

    def _texts(self, holder: XmlElement) -> Iterator[str]:
        for child in holder.children:
            if child.tag == "material":
                yield material_html(child)
            elif child.tag not in _FIELDS:
                yield from self._texts(child)

    def feedback_text(self, names: Sequence[str]) -> MarkedText:
        """Return feedbacks as one text, in the order of the file."""
        known = sorted((name for name in names if name in self.feedback), key=self._order.__getitem__)
        return MarkedText("\n".join(material_html(self.feedback[name]) for name in known), TextForm.HTML)

    def try_out(self, entered: Entered) -> CanvasTrial:
        """Return what an answer gives.

        Raises
        ------
        UnreadRules
            The conditions hold something that isn't carried out here, or take too long.
        """
        score, visible = 0.0, set[str]()
        for condition in self.conditions:
            holder = condition.first("conditionvar")
            self._count()
            if holder is None or not self._fulfils(holder, entered):
                continue
            for element in condition.children:
                if element.tag == "setvar":
                    score = _changed(score, element)
                elif element.tag == "displayfeedback":
                    visible.add(element.attributes.get("linkrefid", ""))
            # left out it would mean No, but Canvas adds up conditions that don't say it
            if condition.attributes.get("continue", "Yes").lower() == "no":
                break
        return CanvasTrial(score, frozenset(visible))

    def _fulfils(self, holder: XmlElement, entered: Entered) -> bool:
        # several texts side by side are all right: Canvas writes those of a short answer without an <or>
        texts = [c for c in holder.children if c.tag == "varequal"]
        if texts and not any(self._holds(c, entered) for c in texts):
            return False
        return all(self._holds(c, entered) for c in holder.children if c.tag != "varequal")

    def _holds(self, condition: XmlElement, entered: Entered) -> bool:
        self._count()
        tag, inner = condition.tag, condition.children
        if tag == "and":
            return all(self._holds(c, entered) for c in inner)
        if tag == "or":
            return any(self._holds(c, entered) for c in inner)
        if tag == "not":
            return not any(self._holds(c, entered) for c in inner)
        if tag == "other":
            return True
        values = entered.get(condition.attributes.get("respident", ""), ())
        if tag == "unanswered":
            return not values
        if tag not in _COMPARED:
            raise UnreadRules(f"<{tag[:60]}>")
        return any(self._compares(tag, condition, value) for value in values)

    @staticmethod
    def _compares(tag: str, condition: XmlElement, value: str) -> bool:
        text, entry = condition.text.strip(), value.strip()
        if tag == "varequal":
            # Canvas itself never looks at capitals; other systems do where the file says so
            is_cased = condition.attributes.get("case", "No").lower() == "yes"
            return entry == text or (not is_cased and entry.casefold() == text.casefold())
        bound, number = read_decimal(text), read_decimal(entry)
        if bound is None or number is None:
            return False
        return _COMPARISONS[tag](number, bound)

    def scoring(self) -> Iterator[tuple[XmlElement, float]]:
        """Yield the conditions under which something is earned, each with what that is."""
        for condition in self.conditions:
            holder = condition.first("conditionvar")
            worth = 0.0
            for element in condition.every("setvar"):
                worth = _changed(worth, element)
            if holder is not None and worth > 0:
                yield holder, worth


def _changed(score: float, rule: XmlElement) -> float:
    number = read_decimal(rule.text)
    value = float(number) if number is not None else 0.0
    action = rule.attributes.get("action", "Set").lower()
    if action == "add":
        return score + value
    if action == "subtract":
        return score - value
    if action == "multiply":
        return score * value
    return value


def labels_of(response: XmlElement) -> dict[str, XmlElement]:
    """Return the options of a field by their identifiers, in their order."""
    labels = [element for element in response.inside() if element.tag == _LABEL]
    return {label.attributes.get("ident", ""): label for label in labels}


def compared_with(holder: XmlElement, response: str) -> Iterator[tuple[str, str, bool]]:
    """Yield what a condition compares a field with: kind of comparison, text, and whether under a ``not``."""
    # from a list and not by recursion, so that the order of the file stays
    waiting = [(child, False) for child in reversed(holder.children)]
    while waiting:
        element, is_negated = waiting.pop()
        if element.tag in _COMPARED:
            if element.attributes.get("respident", "") == response:
                yield element.tag, element.text.strip(), is_negated
        else:
            below = is_negated or element.tag == "not"
            waiting += [(child, below) for child in reversed(element.children)]


def intervals_of(holder: XmlElement, response: str) -> list[tuple[Decimal, Decimal]]:
    """Return the intervals that a condition states for a typed number; a single number is one, too."""
    points: list[Decimal] = []
    intervals: list[tuple[Decimal, Decimal]] = []
    low: Decimal | None = None
    for tag, text, is_negated in compared_with(holder, response):
        number = read_decimal(text)
        # a bound under a "not" would be an interval without end: nothing that people ask for
        if number is None or is_negated:
            continue
        if tag == "varequal":
            points.append(number)
        elif tag.startswith("varg"):
            low = number
        elif low is not None:
            intervals.append((low, number))
            low = None
    # beside an interval around it, the number itself is said once more
    lone = [(p, p) for p in points if not any(a <= p <= b for a, b in intervals)]
    return [*intervals, *lone]
