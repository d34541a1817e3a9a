"""Reads QTI 3.0 items: as our own export writes them, and as other tools do where the item has a counterpart.

An item says in rules how it is marked. They are carried out with answers that are tried
(:mod:`~engine.authoring.importing.qti_marking`), so that what an item does decides, not how it is written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from engine.authoring.importing.foreign_question import (
    NOTHING,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    ImportNote,
    MarkedText,
    QuestionFile,
    QuestionKind,
    SkippedQuestion,
    SourceText,
    TextForm,
    check_question,
)
from engine.authoring.importing.gap_texts import unused_mark
from engine.authoring.importing.imported_wholes import NO_RUBRIC
from engine.authoring.importing.qti_essay import essay_field
from engine.authoring.importing.qti_fields import (
    FieldTrials,
    choice_field,
    match_field,
    order_field,
)
from engine.authoring.importing.qti_item import (
    INTERACTION,
    OWN_TOOL,
    QtiItem,
    as_qti3,
    html_of,
    plain_words,
    without_prefixes,
)
from engine.authoring.importing.qti_marking import TrialBudget, UnreadRules, unread_reason
from engine.authoring.importing.qti_typed import (
    NumberFields,
    mistakes_of,
    near_share_of,
    number_field,
    words_field,
)
from engine.authoring.importing.qti_values import QtiValue
from engine.authoring.importing.qti_vectors import narrow_tables, weighted_fields
from engine.authoring.importing.question_texts import UnfitError
from engine.authoring.importing.text_blocks import TextTooLong
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement, read_tree
from engine.text.words import clean_line, count_noun

ITEM = "qti-assessment-item"
OLD_ITEM = "assessmentItem"
"""What QTI 2 calls it."""
# rules nest deeper than the questions of other formats, and a formula stands in a cell of a table in a list
BOUNDS = TreeBounds(
    depth=64,
    in_root=2_000,
    crowded="an item holds at most 2,000 declarations",
    deep="nothing that people read is nested so deep",
)
_MOST_FIELDS = 60
_MARKABLE = "ask for something that can be marked by itself, such as a choice or a number"
_AS_MATCHING = "write it as a matching item: grade new item ID --type matching"
# what our own export writes above a field; what it asks stands before it
_OWN_PROMPTS = frozenset(
    {"Pick all options that apply.", "Put all cards in order, first to last.", "Pick one column in each row."}
)
_OTHERS: dict[str, tuple[str, str]] = {
    "associate": ("it pairs choices of one set", _AS_MATCHING),
    "gap-match": ("words are dragged into gaps of a text", _AS_MATCHING),
    "hottext": ("words of a text are marked", "write it as a choice"),
    "upload": ("a file is handed in", _MARKABLE),
    "slider": ("a value is set with a slider", "ask for the number"),
    "media": ("a film or a sound is played", _MARKABLE),
    "drawing": ("something is drawn", _MARKABLE),
    "custom": ("it is marked by a program of its own", _MARKABLE),
    "portable-custom": ("it is marked by a program of its own", _MARKABLE),
    "end-attempt": ("it has a button that ends the attempt", _MARKABLE),
}
_READ = ("choice", "inline-choice", "order", "match", "text-entry", "extended-text")
_LETTERED = re.compile(r"\(([a-z])\)\s*(.*)", re.DOTALL)
_LETTER = re.compile(r"\([a-z]\)")


@dataclass(frozen=True, slots=True)
class ItemMetadata:
    """What a package's manifest says of an item: its keywords, and the topics under which it is filed."""

    tags: tuple[str, ...] = ()
    category: str = ""


def read_qti3(source: SourceText) -> QuestionFile:
    """Return the question of an item's file, or why it has no counterpart here, and every fault."""
    faults = FileFaults(source)
    root = read_tree(source, faults, BOUNDS)
    if root is None or len(faults):
        return QuestionFile(faults=faults.in_order())
    if not is_item(root, faults):
        return QuestionFile(faults=faults.in_order())
    made = item_question(root, ItemMetadata(), faults)
    if isinstance(made, SkippedQuestion):
        return QuestionFile(skipped=(made,), faults=faults.in_order())
    return QuestionFile((made,) if made is not None else (), faults=faults.in_order())


def is_item(root: XmlElement, faults: FileFaults) -> bool:
    """Return whether an element is an item of QTI 3 or 2; if it isn't, that is a fault."""
    if root.tag.rpartition(":")[2] in (ITEM, OLD_ITEM):
        return True
    tag = clean_line(root.tag, 40)
    faults.add(root.place, f"an item begins with <{ITEM}>, or <{OLD_ITEM}> in QTI 2, not with <{tag}>")
    return False


def item_question(
    root: XmlElement,
    metadata: ItemMetadata,
    faults: FileFaults,
    entry: str = "",
    budget: TrialBudget | None = None,
) -> ForeignQuestion | SkippedQuestion | None:
    """Return the question of an item, or why it is skipped; None after a fault.

    Parameters
    ----------
    root : XmlElement
    metadata : ItemMetadata
    faults : FileFaults
    entry : str
        The item's file within a package.
    budget : TrialBudget, optional
        What may be tried in the package altogether.
    """
    without_prefixes(root)
    if root.tag == OLD_ITEM:
        as_qti3(root)
    name = root.attributes.get("title", "") or root.attributes.get("identifier", "")
    place = FilePlace(root.place.line, root.place.column, entry)
    body = root.first("qti-item-body")
    if body is None:
        faults.add(root.place, "this item has no <qti-item-body>")
        return None
    kinds = [m[1] for e in body.inside() if (m := INTERACTION.fullmatch(e.tag))]
    kind = "+".join(dict.fromkeys(kinds)) or "no interaction"
    before = len(faults)
    try:
        _check_kinds(root, kinds)
        item = QtiItem(root, body, root.attributes.get("tool-name") == OWN_TOOL, budget or TrialBudget())
        question = _Reader(item, ForeignQuestion(QuestionKind.CHOICE, name, kind, place, NOTHING)).question()
    except (UnfitError, UnreadRules, TextTooLong) as problem:
        return SkippedQuestion(name, kind, place, *unread_reason(problem))
    question = replace(question, tags=metadata.tags, category=metadata.category)
    check_question(question, faults)
    return question if len(faults) == before else None


def _check_kinds(root: XmlElement, kinds: Sequence[str]) -> None:
    """Raise UnfitError for what has no counterpart here."""
    if not kinds:
        raise UnfitError(
            "it only shows a text and asks nothing", "put the text into the stem of the items that need it"
        )
    declared_names = {e.attributes.get("identifier") for e in root.every("qti-response-declaration")}
    for element in root.inside():
        if (
            INTERACTION.fullmatch(element.tag)
            and element.attributes.get("response-identifier") not in declared_names
        ):
            raise UnfitError("a field's response isn't declared", "declare it")
    if root.first("qti-template-declaration") is not None:
        raise UnfitError(
            "its numbers are drawn by templates", "write it as a family: grade new item ID --type number"
        )
    if root.attributes.get("adaptive") == "true":
        raise UnfitError("it is adaptive: its rules remember earlier answers", "write it with steps")
    for kind in kinds:
        if kind not in _READ:
            what = (
                "a picture is clicked on"
                if kind.startswith(("hotspot", "graphic", "select-p", "pos"))
                else ""
            )
            raise UnfitError(
                *_OTHERS.get(kind, (what or f"the interaction '{kind[:40]}' isn't known here", _MARKABLE))
            )
    if len(kinds) > _MOST_FIELDS:
        raise UnfitError(f"it has {count_noun(len(kinds), 'field')}", "make several of it")


@dataclass
class _Reader:
    """Reads one item."""

    item: QtiItem
    plain: ForeignQuestion

    def question(self) -> ForeignQuestion:
        """Return the question."""
        item = self.item
        names = [interaction.attributes["response-identifier"] for interaction in item.interactions]
        # each field is tried out alone, which takes a response of its own
        if len(set(names)) < len(names):
            raise UnfitError("two of its fields share a response", "give each its own")
        key = {name: self._key(name) for name in names}
        at_key = item.try_out({name: value for name, value in key.items() if value is not None})
        # what is shown both for nothing and for the key is shown for everything: it explains the solution
        always = item.try_out({}).visible & at_key.visible
        self._always = always
        self._numbers = NumberFields(
            item, tuple(n for n in names if self._is_number(n) and item.responses[n].cardinality == "single")
        )
        self._mistakes = mistakes_of(item, self._numbers.names, always)
        legends = [self._legend(i) for i in item.interactions]
        made = [
            self._field(i, n, legend) for i, n, legend in zip(item.interactions, names, legends, strict=True)
        ]
        question = self._only(*made[0]) if len(made) == 1 else self._several(made)
        general = item.feedback(always) if always else NOTHING
        hints = tuple(MarkedText(_hint_html(h.element), TextForm.HTML) for h in item.hints)
        notes = list(question.notes)
        if not item.has_rules and question.kind is not QuestionKind.ESSAY:
            notes.append(
                ImportNote("no rule sets its score; its correct response is the key", question.place)
            )
        if item.root.first("qti-assessment-stimulus-ref") is not None:
            notes.append(ImportNote("the text of its stimulus isn't kept", question.place))
        return replace(question, general=general, hints=hints, notes=tuple(notes))

    def _key(self, name: str) -> QtiValue:
        return self.item.responses[name].correct

    def _is_number(self, name: str) -> bool:
        return self.item.responses[name].kind in ("float", "integer")

    def _field(
        self, interaction: XmlElement, name: str, legend: dict[str, str]
    ) -> tuple[ForeignQuestion, float]:
        match = INTERACTION.fullmatch(interaction.tag)
        kind = match[1] if match is not None else ""
        plain = replace(self.plain, place=replace(self.plain.place, line=interaction.place.line))
        trials = FieldTrials(self.item, name, self._always)
        if kind in ("choice", "inline-choice"):
            return choice_field(plain, interaction, trials)
        if kind == "order":
            return order_field(plain, interaction, trials)
        if kind == "match":
            return match_field(plain, interaction, trials, legend)
        if kind == "extended-text":
            rubric = next((e for e in self.item.body.inside() if e.tag == "qti-rubric-block"), None)
            if rubric is None:
                raise UnfitError(*NO_RUBRIC)
            outcome = self.item.outcomes.get(name.replace("RESPONSE", "SCORE", 1))
            most = outcome.element.attributes.get("normal-maximum", "1") if outcome is not None else "1"
            worth = float(most) if re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,9})?", most) else 1.0
            return essay_field(plain, rubric, is_own=self.item.is_own), worth
        if name in self._numbers.names:
            return number_field(plain, name, self._numbers, self._mistakes, trials)
        return words_field(plain, trials)

    def _legend(self, interaction: XmlElement) -> dict[str, str]:
        """Return the targets that our own export lists above a table, and take the list out of the body."""
        if not self.item.is_own or interaction.tag != "qti-match-interaction":
            return {}
        sides = list(interaction.every("qti-simple-match-set"))
        words = [plain_words(e) for e in sides[1].children] if len(sides) == 2 else []
        if not words or not all(map(_LETTER.fullmatch, words)):
            return {}
        content = self.item.body.content
        at = next((n for n, node in enumerate(content) if node is interaction), 0)
        lines = content[max(0, at - len(words)) : at]
        legend: dict[str, str] = {}
        for word, line in zip(words, lines, strict=False):
            text = html_of(line.content) if not isinstance(line, str) else ""
            match = _LETTERED.match(text)
            if match is None or f"({match[1]})" != word:
                return {}
            legend[word] = match[2]
        del content[at - len(words) : at]
        return legend

    def _prompt(self, interaction: XmlElement) -> str:
        prompt = interaction.first("qti-prompt")
        if prompt is None or (self.item.is_own and plain_words(prompt) in _OWN_PROMPTS):
            return ""
        return f"<p>{html_of(prompt.content).strip()}</p>"

    def _only(self, made: ForeignQuestion, _: float) -> ForeignQuestion:
        """Return a question with one field; one that stands in a sentence is a gap."""
        (interaction,) = self.item.interactions
        is_typed = made.kind in (QuestionKind.NUMBER, QuestionKind.TOKEN)
        most = self.item.most
        points = Decimal(str(round(most, 6))) if most and most > 0 else Decimal(1)
        made = replace(made, points=points)
        if is_typed and made.kind is QuestionKind.NUMBER:
            made = replace(made, near_share=near_share_of(self._numbers, self._numbers.names))
        if interaction.tag == "qti-inline-choice-interaction" or is_typed:
            alone = self._alone(interaction) if is_typed else None
            if alone is None:
                return self._several([(made, 1.0)], points)
            text, unit = alone
            return replace(made, text=MarkedText(text, TextForm.HTML), unit=unit, place=self.plain.place)
        text = html_of(self.item.body.content, self._without(interaction))
        return replace(made, text=MarkedText(text, TextForm.HTML), place=self.plain.place)

    def _without(self, interaction: XmlElement):  # type: ignore[no-untyped-def]
        return lambda element: self._prompt(element) if element is interaction else None

    def _alone(self, interaction: XmlElement) -> tuple[str, str] | None:
        """Return the text and the unit where the only field ends a text by itself, None where it doesn't."""
        content = self.item.body.content
        holder = next((n for n in content if not isinstance(n, str) and interaction in n.children), None)
        if not isinstance(holder, XmlElement):
            return None
        at = holder.content.index(interaction)
        before, behind = html_of(holder.content[:at]).strip(), html_of(holder.content[at + 1 :]).strip()
        if before or "<" in behind or len(behind) > 30:
            return None
        # what stands below a field would ask before it elsewhere
        rest = [node for node in content if node is not holder]
        text = html_of(rest)
        return (text, MarkedText(behind).text) if text.strip() else None

    def _several(
        self, made: Sequence[tuple[ForeignQuestion, float]], points: Decimal | None = None
    ) -> ForeignQuestion:
        """Return a text with gaps; numbers that our export writes as a vector are marked together."""
        mark = unused_mark(html_of(self.item.body.content))
        numbers = {id(interaction): n for n, interaction in enumerate(self.item.interactions)}
        tables = narrow_tables(self.item)

        def written(element: XmlElement) -> str | None:
            if id(element) in tables:
                gaps = [numbers[id(e)] for e in element.inside() if id(e) in numbers]
                return f"<p>{tables[id(element)].join(f'{mark}{n}{mark}' for n in gaps)}</p>"
            number = numbers.get(id(element))
            if number is None:
                return None
            gap = f"{mark}{number}{mark}"
            is_inline = element.tag in ("qti-text-entry-interaction", "qti-inline-choice-interaction")
            return gap if is_inline else f"{self._prompt(element)}<p>{gap}</p>"

        html = html_of(self.item.body.content, written)
        gaps = weighted_fields(self.item, self._numbers, made)
        if points is None:
            most = self.item.most or sum(worth for _, worth in made) or 1.0
            points = Decimal(str(round(most, 6)))
        notes = [note for gap, _ in made for note in gap.notes]
        return replace(
            self.plain,
            kind=QuestionKind.GAPS,
            text=MarkedText(html, TextForm.HTML),
            gaps=tuple(gaps),
            gap_mark=mark,
            points=points,
            notes=tuple(notes),
        )


def _hint_html(element: XmlElement) -> str:
    """Return a hint of our own export without the heading that it gets there."""
    body = element.first("qti-content-body") or element
    first = next((n for n, node in enumerate(body.content) if not isinstance(node, str)), None)
    return html_of(body.content[first + 1 :]) if first is not None else html_of(body.content)
