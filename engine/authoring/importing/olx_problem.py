"""A problem of Open edX as a question: its text with the fields in it, hints and solution.

Each field of a problem earns one share of its points. Where our own export has made several fields of a
vector, an order or pairs, they are one field again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from engine.authoring.importing.foreign_question import (
    NOTHING,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    ImportNote,
    MarkedText,
    QuestionKind,
    SkippedQuestion,
    TextForm,
    check_question,
    read_decimal,
)
from engine.authoring.importing.gap_texts import (
    CHOOSE_PLACES,
    GapWriter,
    html_text,
    laid_out,
    order_question,
    pairs_question,
    plain_text,
    unused_mark,
    without_letters,
)
from engine.authoring.importing.olx_fields import (
    boxes_field,
    dropdown_field,
    dropdown_options,
    number_field,
    radio_field,
    words_field,
    words_of,
)
from engine.authoring.importing.qti_item import html_of, plain_words, without_prefixes
from engine.authoring.importing.question_texts import UnfitError
from engine.authoring.importing.text_blocks import TextTooLong
from engine.authoring.importing.xml_tree import XmlElement
from engine.text.words import clean_line, count_noun

_MARKABLE = "ask for something that can be marked by itself, such as a choice or a number"
_BY_PROGRAM = ("a program marks its answers", _MARKABLE)
_READ = (
    "multiplechoiceresponse", "truefalseresponse", "choiceresponse", "optionresponse", "numericalresponse",
    "stringresponse",
)  # fmt: skip
_OTHERS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("customresponse", "externalresponse", "coderesponse", "jsmeresponse"), _BY_PROGRAM),
    **dict.fromkeys(("schematicresponse", "symbolicresponse", "jsresponse"), _BY_PROGRAM),
    "formularesponse": ("a formula is the answer", "ask for its value, or make a choice of it"),
    "imageresponse": ("a picture is clicked on", _MARKABLE),
    "annotationresponse": ("words of a text are marked", "write it as a choice"),
    "choicetextresponse": ("an option has a field of its own", "write it with steps"),
    "radiotextresponse": ("an option has a field of its own", "write it with steps"),
    "checkboxtextresponse": ("an option has a field of its own", "write it with steps"),
}
# what belongs to a field, and isn't its text
_INPUTS = (
    "choicegroup", "checkboxgroup", "radiogroup", "optioninput", "formulaequationinput", "textline",
    "responseparam", "additional_answer", "stringequalhint", "regexphint", "correcthint", "compoundhint",
    "hintgroup", "choice", "solution",
)  # fmt: skip
_UNSEEN = ("solution", "demandhint", "solutionset", "targetedfeedbackset")
_OWN_LABEL = "Your answer"
# the sentences of our own export above the fields of a vector, pairs or an order
_OWN_SENTENCE = re.compile(
    r"Choose one for each\.|Choose the place of each\.|Enter (?:each number|whole numbers)\b.*"
)
_ENTRY = re.compile(r"entry [0-9]{1,3}|row [0-9]{1,3} column [0-9]{1,3}")
_DIFFICULTY = re.compile(r"difficulty-[1-5]")
# what Studio calls a problem that nobody has given a name
_NO_NAMES = {
    "problem", "blank problem", "blank common problem", "blank advanced problem", "multiple choice",
    "single select", "multi-select", "checkboxes", "dropdown", "numerical input", "text input",
}  # fmt: skip
_EXPLANATION = re.compile(r"explanation:?|solution:?", re.IGNORECASE)
_MATHJAX = (
    ("[mathjaxinline]", "\\("), ("[/mathjaxinline]", "\\)"), ("[mathjax]", "\\["), ("[/mathjax]", "\\]")
)  # fmt: skip
_MOST_FIELDS = 60


def problem_question(
    root: XmlElement, faults: FileFaults, entry: str = "", titles: Sequence[str] = ()
) -> ForeignQuestion | SkippedQuestion | None:
    """Return the question of a problem, or why it is skipped; None after a fault.

    Parameters
    ----------
    root : XmlElement
    faults : FileFaults
    entry : str
        The problem's file within a course.
    titles : sequence of str
        Of what holds it, from the widest to the narrowest.
    """
    without_prefixes(root)
    tags = _tags_of(root)
    is_own = any(map(_DIFFICULTY.fullmatch, tags))
    title = root.attributes.get("display_name", "").strip()
    name = "" if title.casefold() in _NO_NAMES else title
    place = FilePlace(root.place.line, root.place.column, entry)
    responses = [e for e in root.inside() if e.tag.endswith("response")]
    kind = "+".join(dict.fromkeys(e.tag.removesuffix("response")[:40] for e in responses)) or "no field"
    question = ForeignQuestion(
        QuestionKind.CHOICE,
        name,
        kind,
        place,
        NOTHING,
        tags=tags,
        # the tags of our own export hold its topics already, in their order
        category="" if is_own else "/".join(title.replace("/", "//") for title in titles),
        general=MarkedText("\n".join(_solutions(root)), TextForm.HTML),
        hints=tuple(_hints(root)),
    )
    before = len(faults)
    try:
        _check(root, responses)
        made = _Problem(root, question, responses, is_own).question()
    except (UnfitError, TextTooLong) as problem:
        return SkippedQuestion(name, kind, place, str(problem), getattr(problem, "next_step", ""))
    check_question(made, faults)
    return made if len(faults) == before else None


def _tags_of(root: XmlElement) -> tuple[str, ...]:
    text = root.attributes.get("tags", "")[:4000]
    # Studio writes a list in JSON; older tools wrote words between commas
    try:
        tags = json.loads(text) if text.startswith("[") else text.split(",")
    except (ValueError, RecursionError):
        tags = []
    return tuple(tag.strip()[:200] for tag in tags if isinstance(tag, str) and tag.strip())[:50]


def _check(root: XmlElement, responses: Sequence[XmlElement]) -> None:
    """Raise UnfitError for what has no counterpart here."""
    if any(e.tag == "script" and "python" in e.attributes.get("type", "") for e in root.inside()):
        raise UnfitError(
            "a Python program draws its numbers or marks it",
            "write it as a family, whose key is recomputed: grade new item ID --type number",
        )
    if not responses:
        raise UnfitError(
            "it only shows a text and asks nothing", "put the text into the stem of the items that need it"
        )
    if len(responses) > _MOST_FIELDS:
        raise UnfitError(f"it has {count_noun(len(responses), 'field')}", "make several of it")
    for response in responses:
        if response.tag not in _READ:
            tag = clean_line(response.tag, 40)
            raise UnfitError(*_OTHERS.get(response.tag, (f"the field <{tag}> isn't known here", _MARKABLE)))


def _formulas(html: str) -> str:
    for theirs, ours in _MATHJAX:
        html = html.replace(theirs, ours)
    return html


def _solutions(root: XmlElement) -> Iterator[str]:
    for element in root.inside():
        if element.tag == "solution":
            holder = element.first("div") or element
            nodes = [node for node in holder.content if isinstance(node, XmlElement) or node.strip()]
            # Studio's template begins with this heading
            if nodes and isinstance(nodes[0], XmlElement) and _EXPLANATION.fullmatch(plain_words(nodes[0])):
                del nodes[0]
            yield _formulas(html_of(nodes)).strip()


def _hints(root: XmlElement) -> Iterator[MarkedText]:
    for holder in root.inside():
        if holder.tag == "demandhint":
            for hint in holder.every("hint"):
                yield html_text(_formulas(html_of(hint.content)))


@dataclass
class _Problem:
    root: XmlElement
    plain: ForeignQuestion
    responses: Sequence[XmlElement]
    is_own: bool
    notes: list[ImportNote] = field(default_factory=list)

    def __post_init__(self) -> None:
        # by identity: two fields that look alike are two fields
        elements = [self.root, *self.root.inside()]
        self._holders = {id(child): element for element in elements for child in element.children}
        self._words = plain_words(self.root)

    def question(self) -> ForeignQuestion:
        """Return the question."""
        inputs = [e for r in self.responses for e in self._inputs(r)]
        # without a weight a problem is worth as many points as it has fields
        weight = read_decimal(self.root.attributes.get("weight", ""))
        points = weight if weight is not None and weight > 0 else Decimal(len(inputs))
        if any(e.tag == "targetedfeedbackset" for e in self.root.inside()):
            self.notes.append(ImportNote("feedback that replaces the solution isn't kept", self.plain.place))
        only = self.responses[0] if len(inputs) == 1 else None
        is_alone = only is not None and self._stands_alone(only)
        made = self._alone(self.responses[0]) if is_alone else self._with_gaps()
        return replace(made, points=points).noting(*self.notes)

    @staticmethod
    def _inputs(response: XmlElement) -> list[XmlElement]:
        """Return the fields of a response: a dropdown may have several."""
        if response.tag != "optionresponse":
            return [response]
        return [e for e in response.inside() if e.tag == "optioninput"]

    def _stands_alone(self, response: XmlElement) -> bool:
        holder = self._holder(response)
        if holder is self.root or holder.tag in ("div", "section"):
            return True
        return not any(isinstance(n, str) and n.strip() for n in holder.content) and len(holder.children) == 1

    def _holder(self, response: XmlElement) -> XmlElement:
        """Return the element in which a response stands."""
        return self._holders[id(response)]

    def _alone(self, response: XmlElement) -> ForeignQuestion:
        made = self._field(response, self._inputs(response)[0])
        prompt = self._prompt(response)
        html = html_of(self.root.content, lambda e: prompt if e is response else _hidden(e))
        return replace(made, text=html_text(_formulas(html)))

    def _field(self, response: XmlElement, entry: XmlElement) -> ForeignQuestion:
        plain = replace(
            self.plain,
            place=replace(self.plain.place, line=response.place.line, column=response.place.column),
        )
        match response.tag:
            case "multiplechoiceresponse" | "truefalseresponse":
                made = radio_field(plain, response, is_own=self.is_own)
            case "choiceresponse":
                made = boxes_field(plain, response, is_own=self.is_own)
            case "optionresponse":
                made = dropdown_field(plain, entry)
            case "numericalresponse":
                hint = response.first("description")
                is_whole = self.is_own and hint is not None and plain_words(hint).startswith("a whole number")
                made = number_field(plain, response, is_whole=is_whole)
            case _:
                made = words_field(plain, response, is_own=self.is_own)
        return replace(made, place=self.plain.place)

    def _prompt(self, response: XmlElement) -> str:
        """Return what a response itself says before its field."""
        hidden = [*_INPUTS, *(("description",) if self.is_own else ())]

        def written(element: XmlElement) -> str | None:
            if element.tag in hidden:
                return ""
            if element.tag == "label":
                words = html_of(element.content).strip()
                return "" if self.is_own and words == _OWN_LABEL else f"<p>{words}</p>"
            return f"<p>{html_of(element.content)}</p>" if element.tag == "description" else None

        html = html_of(response.content, written).strip()
        if not html and not self.is_own:
            # older courses keep the label for screen readers in the field
            labels = [e.attributes.get("label", "") for e in response.inside() if e.tag in _INPUTS]
            html = "".join(
                f"<p>{clean_line(label, 300)}</p>" for label in labels if label and not self._asks(label)
            )
        return html

    def _asks(self, label: str) -> bool:
        """Return whether the text says the words of a label anyway."""
        return " ".join(label.split()) in self._words

    def _with_gaps(self) -> ForeignQuestion:
        plain = replace(self.plain, general=NOTHING, hints=(), notes=(), tags=(), category="")
        writer = GapWriter(plain, unused_mark(self._words))
        if self.is_own:
            writer.pieces += self._own_pieces(writer)
        else:
            fields = {id(response): response for response in self.responses}

            def written(element: XmlElement) -> str | None:
                response = fields.get(id(element))
                return _hidden(element) if response is None else self._gap(writer, response)

            writer.pieces.append(html_of(self.root.content, written))
        made = writer.question()
        notes = [note for gap in made.gaps for note in gap.notes]
        return replace(
            self.plain,
            kind=QuestionKind.GAPS,
            text=replace(made.text, text=_formulas(made.text.text)),
            gaps=made.gaps,
            gap_mark=made.gap_mark,
        ).noting(*notes)

    def _gap(self, writer: GapWriter, response: XmlElement) -> str:
        fields = [
            replace(self._field(response, e), general=NOTHING, hints=()) for e in self._inputs(response)
        ]
        marks = [writer.add(replace(made, points=Decimal(1), unit="")) for made in fields]
        holder = self._holder(response)
        gaps = " ".join(f"{mark} {made.unit}".strip() for mark, made in zip(marks, fields, strict=True))
        prompt = self._prompt(response)
        # within a sentence a field stays where it is
        return gaps if holder.tag in ("p", "li", "td", "span") and not prompt else f"{prompt}<p>{gaps}</p>"

    def _own_pieces(self, writer: GapWriter) -> Iterator[str]:
        """Yield the text of our own export, with fields that belong together as one."""
        fields = {id(response) for response in self.responses}
        before: list[XmlElement | str] = []
        # blanks and line ends stand between elements; words of our own are always in one
        waiting = [n for n in self.root.content if not isinstance(n, str) or n.strip()]
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, str) or id(node) not in fields:
                before.append(node)
                continue
            group = [node]
            while waiting and not isinstance(following := waiting[0], str) and self._goes_on(node, following):
                group.append(following)
                del waiting[0]
            written = self._own_field(writer, group, before)
            yield html_of(before, _hidden)
            yield written
            before = []
        yield html_of(before, _hidden)

    def _goes_on(self, response: XmlElement, following: XmlElement) -> bool:
        """Return whether two responses are parts of one field of ours."""
        if following.tag != response.tag:
            return False
        if response.tag == "numericalresponse":
            labels = [plain_words(e.first("label") or e) for e in (response, following)]
            # each vector begins at its first entry, and each matrix at its first cell
            starts = labels[1] in ("entry 1", "row 1 column 1")
            return all(map(_ENTRY.fullmatch, labels)) and not starts
        if response.tag != "optionresponse":
            return False
        return _texts_of(response) == _texts_of(following)

    def _own_field(
        self, writer: GapWriter, group: Sequence[XmlElement], before: list[XmlElement | str]
    ) -> str:
        plain = replace(writer.plain, points=Decimal(len(group)))
        legend: dict[str, str] = {}
        if group[0].tag == "optionresponse" and before and not isinstance(before[-1], str):
            text, legend = without_letters(html_of([before[-1]])) if before[-1].tag == "ul" else ("", {})
            if legend and not text:
                before.pop()
        # the sentence says how to fill in fields that are one field here, and would be wrong there
        sentence = plain_words(before[-1]) if before and isinstance(before[-1], XmlElement) else ""
        if not _OWN_SENTENCE.fullmatch(sentence):
            sentence = ""
        else:
            before.pop()
        if group[0].tag == "optionresponse":
            return f"<p>{writer.add(_dropdowns(plain, group, sentence, legend))}</p>"
        if group[0].tag == "numericalresponse" and sentence:
            labels = [plain_words(response.first("label") or response) for response in group]
            entry = replace(plain, points=Decimal(1))
            is_whole = "whole" in sentence
            fields = [number_field(entry, response, is_whole=is_whole) for response in group]
            marks = [writer.add(replace(made, unit="")) for made in fields]
            return laid_out(labels, marks, fields[0].unit)
        return "".join(self._gap(writer, response) for response in group)


def _hidden(element: XmlElement) -> str | None:
    return "" if element.tag in _UNSEEN else None


def _texts_of(response: XmlElement) -> list[str]:
    field_of = response.first("optioninput")
    return [text.text for text, _, _ in dropdown_options(field_of)] if field_of is not None else []


def _dropdowns(
    plain: ForeignQuestion, group: Sequence[XmlElement], sentence: str, legend: dict[str, str]
) -> ForeignQuestion:
    """Return the pairs or the order that our own export has made dropdowns of."""
    fields = [next(e for e in response.inside() if e.tag == "optioninput") for response in group]
    options = [dropdown_options(entry) for entry in fields]
    texts = [plain_text(text) for text, _, _ in options[0]]
    labels = [words_of(response.first("label") or response, "optioninput") for response in group]
    rights = [next((n for n, o in enumerate(entries) if o[1]), 0) for entries in options]
    feedback = [next((o[2] for o in entries if o[2]), NOTHING) for entries in options]
    if sentence == CHOOSE_PLACES and texts == [str(n + 1) for n in range(len(texts))]:
        cards = [label for _, label in sorted(zip(rights, labels, strict=True), key=lambda card: card[0])]
        return replace(order_question(plain, cards), wrong=feedback[0])
    targets = [
        html_text(legend.get(text, "")) if legend else options[0][n][0] for n, text in enumerate(texts)
    ]
    pairs = [(label, targets[right]) for label, right in zip(labels, rights, strict=True)]
    return pairs_question(plain, pairs, targets, feedback)
