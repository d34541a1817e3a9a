"""A QTI 3 item as its parts: declarations, interactions, feedback, and the text around them as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.authoring.importing.foreign_question import MarkedText, TextForm
from engine.authoring.importing.qti_marking import QtiMarking, TrialBudget, UnreadRules
from engine.authoring.importing.qti_values import QtiValue, QtiVariable, declared
from engine.authoring.importing.xml_tree import XmlElement

OWN_TOOL = "Softmark"
INTERACTION = re.compile(r"qti-([a-z-]{1,40})-interaction")
_FEEDBACK = ("qti-feedback-block", "qti-feedback-inline", "qti-modal-feedback")
# what a person who answers doesn't see, or sees only after the answer
_UNSEEN = {*_FEEDBACK, "qti-rubric-block", "qti-template-block", "qti-template-inline", "qti-stylesheet"}
_VOID = {"br", "hr", "img", "col", "wbr", "input", "source", "track", "embed", "area"}
_ATTRIBUTES = {"src", "alt", "display", "stretchy", "accent", "mathvariant", "columnalign", "width",
               "encoding", "alttext", "href", "class", "displaystyle"}  # fmt: skip
_OWN_HINT = re.compile(r"hint-[0-9]+")
Replace = Callable[[XmlElement], str | None]
"""Gives what stands for an element in the HTML, None for what is written as it is."""


def html_of(nodes: Sequence[XmlElement | str], replace: Replace = lambda element: None) -> str:
    """Return content as HTML, without feedback and rubrics; elements of QTI leave their content.

    Parameters
    ----------
    nodes : sequence of XmlElement or str
    replace : callable, optional
    """
    pieces: list[str] = []
    for node in nodes:
        if isinstance(node, str):
            pieces.append(html.escape(node, quote=False))
            continue
        instead = replace(node)
        name = node.tag.rpartition(":")[2]
        if instead is not None:
            pieces.append(instead)
        elif name in _UNSEEN:
            continue
        elif name.startswith("qti-"):
            pieces.append(html_of(node.content, replace))
        else:
            attributes = [
                f' {key}="{html.escape(value)}"'
                for key, value in node.attributes.items()
                if key in _ATTRIBUTES
            ]
            pieces.append(f"<{name}{''.join(attributes)}>")
            if name not in _VOID:
                pieces.append(f"{html_of(node.content, replace)}</{name}>")
    return "".join(pieces)


def marked(nodes: Sequence[XmlElement | str]) -> MarkedText:
    """Return content as a text of a question."""
    return MarkedText(html_of(nodes).strip(), TextForm.HTML)


def plain_words(element: XmlElement) -> str:
    """Return the characters of an element in one line."""
    return " ".join("".join(_characters(element)).split())


def _characters(element: XmlElement) -> Iterator[str]:
    for node in element.content:
        if isinstance(node, str):
            yield node
        else:
            yield from _characters(node)


def without_lead(text: str, lead: str) -> str:
    """Return a text without the words before it, however blanks stand in them; all of it if they differ."""
    rest = text
    for character in "".join(lead.split()):
        rest = rest.lstrip()
        if not rest.startswith(character):
            return text
        rest = rest[1:]
    return rest.lstrip()


def without_prefixes(root: XmlElement) -> None:
    """Take the prefixes of namespaces off the names of all elements."""
    for element in [root, *root.inside()]:
        element.tag = element.tag.rpartition(":")[2]


# names of QTI 2 that nothing but the QTI before them tells from HTML; all others have capitals
_LOWER_CASE = frozenset(
    [
        "and",
        "contains",
        "correct",
        "default",
        "delete",
        "divide",
        "equal",
        "gap",
        "gcd",
        "gt",
        "gte",
        "hottext",
        "index",
        "inside",
        "lcm",
        "lt",
        "lte",
        "mapping",
        "match",
        "max",
        "member",
        "min",
        "multiple",
        "not",
        "null",
        "or",
        "ordered",
        "power",
        "product",
        "prompt",
        "random",
        "repeat",
        "round",
        "stylesheet",
        "substring",
        "subtract",
        "sum",
        "truncate",
        "value",
        "variable",
    ]
)
_CAPITAL = re.compile("[A-Z]")


def as_qti3(root: XmlElement) -> None:
    """Give the elements of a QTI 2 item the names of QTI 3: there they are ``qti-`` and parted by hyphens.

    Parameters
    ----------
    root : XmlElement
        Its names have no prefixes. What is in formulas and drawings keeps its name.
    """
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag in ("math", "svg"):
            continue
        waiting += element.children
        if element.tag in _LOWER_CASE or _CAPITAL.search(element.tag):
            element.tag = f"qti-{_hyphenated(element.tag)}"
            element.attributes = {_hyphenated(key): value for key, value in element.attributes.items()}


def _hyphenated(name: str) -> str:
    return _CAPITAL.sub(lambda match: f"-{match[0].lower()}", name)


@dataclass(frozen=True, slots=True)
class ShownFeedback:
    """A feedback: the outcome and its value that decide about it, and what is shown."""

    element: XmlElement
    outcome: str
    identifier: str
    shows: bool

    @property
    def html(self) -> str:
        """What is shown."""
        return html_of(self.element.content).strip()

    def is_shown(self, outcomes: Mapping[str, QtiValue]) -> bool:
        """Return whether it is shown after an answer with these outcomes."""
        # one outcome may show several feedbacks, where it holds several values
        value = outcomes.get(self.outcome)
        holds = self.identifier in value if isinstance(value, list) else value == self.identifier
        return holds == self.shows


@dataclass(frozen=True, slots=True)
class QtiTrial:
    """What came out of an answer: the score, and the numbers of the feedbacks that are shown."""

    score: float
    visible: frozenset[int]


@dataclass
class QtiItem:
    """An item.

    Parameters
    ----------
    root, body : XmlElement
    is_own : bool
        Whether Softmark wrote it, so that names and headings of its own are known.
    budget : TrialBudget, optional
        What may be tried in its package altogether.
    """

    root: XmlElement
    body: XmlElement
    is_own: bool
    budget: TrialBudget = field(default_factory=TrialBudget)
    responses: dict[str, QtiVariable] = field(default_factory=dict)
    outcomes: dict[str, QtiVariable] = field(default_factory=dict)
    interactions: list[XmlElement] = field(default_factory=list)
    feedbacks: list[ShownFeedback] = field(default_factory=list)
    hints: list[ShownFeedback] = field(default_factory=list)

    def __post_init__(self) -> None:
        for element in self.root.children:
            if element.tag == "qti-response-declaration":
                variable = declared(element)
                self.responses[variable.name] = variable
            elif element.tag == "qti-outcome-declaration":
                variable = declared(element)
                self.outcomes[variable.name] = variable
        for element in self.root.inside():
            if element.tag in _FEEDBACK:
                self._add(element)
        self.interactions = [e for e in self.body.inside() if INTERACTION.fullmatch(e.tag)]
        self.count = self.budget.for_item()
        rules = self.root.first("qti-response-processing")
        # some tools write rules that set nothing, and leave the marking to the declarations
        sets_any = rules is not None and any(e.tag == "qti-set-outcome-value" for e in rules.inside())
        self.has_rules = rules is not None and (sets_any or bool(rules.attributes.get("template")))
        rules = rules if self.has_rules else None
        self._marking = QtiMarking(self.responses, self.outcomes, rules, self.count)

    def _add(self, element: XmlElement) -> None:
        attributes = element.attributes
        feedback = ShownFeedback(
            element,
            attributes.get("outcome-identifier", ""),
            attributes.get("identifier", ""),
            attributes.get("show-hide", "show") != "hide",
        )
        is_hint = self.is_own and _OWN_HINT.fullmatch(feedback.identifier) is not None
        (self.hints if is_hint else self.feedbacks).append(feedback)

    def try_out(self, answers: Mapping[str, QtiValue]) -> QtiTrial:
        """Return what an answer gives.

        Raises
        ------
        UnreadRules
            The rules can't be carried out here.
        """
        outcomes = self._marking.outcomes_for(answers)
        score = outcomes.get("SCORE")
        if "SCORE" not in outcomes:
            raise UnreadRules("no outcome SCORE")
        self.count(len(self.feedbacks))
        visible = [n for n, feedback in enumerate(self.feedbacks) if feedback.is_shown(outcomes)]
        number = float(score) if isinstance(score, int | float) and not isinstance(score, bool) else 0.0
        return QtiTrial(number, frozenset(visible))

    def feedback(self, numbers: frozenset[int]) -> MarkedText:
        """Return feedbacks as one text, in the order of the file."""
        return MarkedText("\n".join(self.feedbacks[n].html for n in sorted(numbers)), TextForm.HTML)

    def words(self, numbers: frozenset[int], lead: str = "") -> MarkedText:
        """Return feedbacks as one text, without the words that our export puts before them."""
        if not (self.is_own and lead and len(numbers) == 1):
            return self.feedback(numbers)
        (number,) = numbers
        words = plain_words(self.feedbacks[number].element)
        return MarkedText(html.escape(without_lead(words, lead), quote=False), TextForm.HTML)

    @property
    def rules(self) -> Iterator[XmlElement]:
        """All elements of the response processing; to look at them counts as well."""
        processing = self.root.first("qti-response-processing")
        for element in processing.inside() if processing is not None else ():
            self.count()
            yield element

    @property
    def most(self) -> float | None:
        """The points that the item states, None where it states none."""
        score, maximum = self.outcomes.get("SCORE"), self.outcomes.get("MAXSCORE")
        if score is not None:
            try:
                return float(score.element.attributes["normal-maximum"])
            except (KeyError, ValueError):
                pass
        value = maximum.default if maximum is not None else None
        return float(value) if isinstance(value, float) else None
