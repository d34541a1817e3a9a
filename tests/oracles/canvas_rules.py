"""What Canvas's importer takes of a QTI 1.2 package, and how Classic Quizzes mark it.

Written from Canvas's public sources and documentation, independently of ``engine.export``: a package is read
as the importer reads it, and whatever that would drop, misread or report as broken is an error here.

The rules of marking, each with the name under which tables cite it:

- ``canvas-four-decimals``: the page rounds a typed number to four decimals before it is sent
- ``canvas-plain-numbers``: a number is digits with a decimal point, thousands separated by commas, or digits
  with an exponent; anything else empties the field
- ``canvas-each-part``: blanks and pairs earn their share each
- ``canvas-net``: of several answers, wrong picks cost as much as right ones earn, never below 0
- ``canvas-exact-text``: a typed text is right if it equals an accepted one, but for case and outer blanks
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

_QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
_PACKAGE = "{http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1}"
_META = "{http://canvas.instructure.com/xsd/cccv1p0}"

_CHOICES = ("multiple_choice_question", "multiple_answers_question", "true_false_question")
_TYPES = (
    *_CHOICES,
    "short_answer_question",
    "numerical_question",
    "fill_in_multiple_blanks_question",
    "matching_question",
    "essay_question",
    "text_only_question",
)
# Feedback ids with these words are taken for that of the whole question.
_WHOLE_FEEDBACK = re.compile(r"wrong|correct|general_|_all|solution|_IC$|_C$", re.IGNORECASE)
_FEEDBACK = {"general_fb": "general", "correct_fb": "right", "general_incorrect_fb": "wrong"}


class CanvasImportError(ValueError):
    """Canvas would refuse, drop or misread this."""


@dataclass(frozen=True, slots=True)
class CanvasAnswer:
    """One answer as the importer keeps it.

    Parameters
    ----------
    id : str
    text : str
        HTML of an option or a left side, text of an accepted spelling.
    right : bool
    blank : str
        The blank that it belongs to.
    match : str
        The match that is right for a left side.
    low, high : Decimal or None
        The range of a number.
    feedback : str
    """

    id: str
    text: str = ""
    right: bool = True
    blank: str = ""
    match: str = ""
    low: Decimal | None = None
    high: Decimal | None = None
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class CanvasQuestion:
    """One question as the importer keeps it."""

    id: str
    type: str
    title: str
    points: Decimal
    html: str
    answers: tuple[CanvasAnswer, ...] = ()
    matches: Mapping[str, str] = field(default_factory=dict)
    feedback: Mapping[str, str] = field(default_factory=dict)

    @property
    def blanks(self) -> list[str]:
        """The blanks in their order."""
        return list(dict.fromkeys(answer.blank for answer in self.answers if answer.blank))


@dataclass(frozen=True, slots=True)
class CanvasGroup:
    """Questions of which a quiz asks some: its own, or those of a bank."""

    title: str
    pick: int
    points: Decimal
    questions: tuple[CanvasQuestion, ...]


@dataclass(frozen=True, slots=True)
class CanvasPackage:
    """A package that can be imported."""

    title: str
    points: Decimal
    groups: tuple[CanvasGroup, ...]
    banks: Mapping[str, tuple[CanvasQuestion, ...]]
    files: Mapping[str, bytes]

    @property
    def questions(self) -> list[CanvasQuestion]:
        """All questions of banks and groups, each once."""
        found = [q for bank in self.banks.values() for q in bank]
        found += [q for group in self.groups for q in group.questions]
        return list({question.id: question for question in found}.values())


def _need(holds: object, what: str) -> None:
    if not holds:
        raise CanvasImportError(what)


def read_canvas_package(data: bytes) -> CanvasPackage:
    """Return what Canvas would import.

    Raises
    ------
    CanvasImportError
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        _need(len(set(names)) == len(names), "a file is in the package twice")
        files = {name: archive.read(name) for name in names if not name.endswith("/")}
    _need("imsmanifest.xml" in files, "imsmanifest.xml is missing")
    manifest = ElementTree.fromstring(files["imsmanifest.xml"])
    _need(manifest.tag == _PACKAGE + "manifest", f"the manifest is a {manifest.tag}")
    resources = manifest.findall(f"{_PACKAGE}resources/{_PACKAGE}resource")
    listed = {one.get("href", "") for r in resources for one in r.findall(_PACKAGE + "file")}
    _need(listed == set(files) - {"imsmanifest.xml"}, f"listed or there, not both: {listed ^ set(files)}")
    idents = [resource.get("identifier") for resource in resources]
    _need(len(set(idents)) == len(idents), "two resources have one identifier")
    for dependency in manifest.iter(_PACKAGE + "dependency"):
        _need(dependency.get("identifierref") in idents, "a resource depends on one that isn't there")
    return _read_resources(resources, files)


def _read_resources(resources: list[Any], files: Mapping[str, bytes]) -> CanvasPackage:
    banks: dict[str, tuple[CanvasQuestion, ...]] = {}
    assessments, metas = [], []
    for resource in resources:
        kind, href = resource.get("type"), resource.find(_PACKAGE + "file").get("href")
        if kind == "webcontent":
            continue
        tree = ElementTree.fromstring(files[href])
        bank = tree.find(_QTI + "objectbank")
        if bank is not None:
            banks[bank.get("ident", "")] = _questions(bank, files)
        elif kind == "imsqti_xmlv1p2":
            assessments.append(tree.find(_QTI + "assessment"))
        else:
            _need(tree.tag == _META + "quiz", f"{href} is a {tree.tag}")
            metas.append(tree)
    _need(len(assessments) == len(metas) == 1, "one assessment and its assessment_meta.xml are needed")
    (assessment,), (meta,) = assessments, metas
    _need(assessment.get("ident") == meta.get("identifier"), "assessment_meta.xml is of another quiz")
    root = assessment.find(_QTI + "section")
    groups = []
    for entry in root:
        if entry.tag == _QTI + "section":
            groups.append(_group(entry, banks, files))
        else:
            question = _question(entry, files)
            groups.append(CanvasGroup(question.title, 1, question.points, (question,)))
    package = CanvasPackage(
        assessment.get("title", ""),
        Decimal(meta.findtext(_META + "points_possible", "0")),
        tuple(groups),
        banks,
        files,
    )
    _need(meta.findtext(_META + "title") == package.title, "the quiz has two titles")
    return package


def _group(
    section: Any, banks: Mapping[str, tuple[CanvasQuestion, ...]], files: Mapping[str, bytes]
) -> CanvasGroup:
    selection = section.find(f"{_QTI}selection_ordering/{_QTI}selection")
    _need(selection is not None, "a section says nothing of how many questions it asks")
    pick = int(selection.findtext(_QTI + "selection_number", "0"))
    points = selection.findtext(f"{_QTI}selection_extension/{_QTI}points_per_item")
    bank = selection.findtext(_QTI + "sourcebank_ref")
    if bank is not None:
        _need(bank in banks, f"there is no bank {bank}")
        questions = banks[bank]
    else:
        questions = _questions(section, files)
    _need(0 < pick <= len(questions), f"{pick} of {len(questions)} questions")
    return CanvasGroup(section.get("title", ""), pick, Decimal(points), questions)


def _questions(parent: Any, files: Mapping[str, bytes]) -> tuple[CanvasQuestion, ...]:
    found = tuple(_question(item, files) for item in parent.findall(_QTI + "item"))
    _need(len({question.id for question in found}) == len(found), "two questions have one identifier")
    return found


def _html(material: Any) -> str:
    text = material.find(_QTI + "mattext")
    value = text.text or ""
    if text.get("texttype") == "text/html":
        _Closed().check(value)
    return value


class _Closed(HTMLParser):
    """Elements that the sanitizer keeps, properly nested."""

    _KEPT = frozenset(
        {
            *(
                "p",
                "div",
                "span",
                "br",
                "hr",
                "em",
                "strong",
                "b",
                "i",
                "u",
                "s",
                "sub",
                "sup",
                "code",
                "pre",
            ),
            *("ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "td", "th", "caption"),
            *("img", "a", "blockquote", "h2", "h3", "h4", "h5", "h6", "figure", "figcaption"),
        }
    )

    def check(self, text: str) -> None:
        self._open: list[str] = []
        self.feed(text)
        self.close()
        _need(not self._open, f"open elements {self._open} in {text[:80]!r}")

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        _need(tag in self._KEPT, f"Canvas drops <{tag}>")
        values = dict(attributes)
        if tag == "img":
            _need("alt" in values and values.get("src"), "a picture without source or alternative text")
        if tag not in ("br", "img", "hr"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        _need(self._open and self._open.pop() == tag, f"</{tag}> closes something else")


def _question(item: Any, files: Mapping[str, bytes]) -> CanvasQuestion:
    fields = {
        one.findtext(_QTI + "fieldlabel"): one.findtext(_QTI + "fieldentry", "")
        for one in item.iter(_QTI + "qtimetadatafield")
    }
    kind = fields.get("question_type") or ""
    _need(kind in _TYPES, f"unknown question type {kind!r}")
    # Its text would be lost there, and with it what the questions below it are about.
    _need(kind != "text_only_question", "New Quizzes drop text-only blocks")
    presentation = item.find(_QTI + "presentation")
    html = _html(presentation.find(_QTI + "material"))
    _need(html.strip(), "a question without text")
    for source in re.findall(r'<img[^>]* src="([^"]*)"', html):
        path = source.removeprefix("%24IMS-CC-FILEBASE%24/").removeprefix("$IMS-CC-FILEBASE$/")
        _need(source.startswith("/equation_images/") or path.split("?")[0] in files, f"no picture {source}")
    question = CanvasQuestion(
        item.get("ident", ""),
        kind,
        item.get("title", ""),
        Decimal(fields.get("points_possible") or "1"),
        html,
        feedback=_whole_feedback(item),
    )
    read = {
        "matching_question": _matching,
        "numerical_question": _numerical,
        "short_answer_question": _short_answer,
        "fill_in_multiple_blanks_question": _blanks,
        "essay_question": lambda item, feedback: ((), {}),
    }.get(kind, _choice)
    answers, matches = read(item, _answer_feedback(item))
    ids = [answer.id for answer in answers]
    _need(len(set(ids)) == len(ids), f"{question.id}: two answers have one identifier")
    if kind in (*_CHOICES, "fill_in_multiple_blanks_question", "matching_question"):
        _need(
            fields.get("original_answer_ids") == ",".join(ids), f"{question.id}: original_answer_ids differ"
        )
    if kind == "fill_in_multiple_blanks_question":
        blanks = dict.fromkeys(answer.blank for answer in answers)
        for blank in blanks:
            _need(re.fullmatch(r"\w+", blank), f"a blank is called {blank!r}")
            _need(html.count(f"[{blank}]") == 1, f"[{blank}] isn't in the text once")
    return CanvasQuestion(
        question.id, kind, question.title, question.points, html, answers, matches, question.feedback
    )


def _feedback_texts(item: Any) -> dict[str, str]:
    texts = {
        one.get("ident", ""): _html(one.find(f"{_QTI}flow_mat/{_QTI}material"))
        for one in item.findall(_QTI + "itemfeedback")
    }
    shown = {one.get("linkrefid") for one in item.iter(_QTI + "displayfeedback")}
    _need(set(texts) == shown, f"feedback that is shown or there, not both: {set(texts) ^ shown}")
    return texts


def _whole_feedback(item: Any) -> dict[str, str]:
    return {_FEEDBACK[name]: text for name, text in _feedback_texts(item).items() if name in _FEEDBACK}


def _answer_feedback(item: Any) -> dict[str, str]:
    """Return the feedback of answers by what their conditions ask for."""
    texts, found = _feedback_texts(item), {}
    for condition in item.iter(_QTI + "respcondition"):
        shown = condition.find(_QTI + "displayfeedback")
        name = "" if shown is None else shown.get("linkrefid", "")
        if name and name not in _FEEDBACK:
            _need(not _WHOLE_FEEDBACK.search(name), f"{name} is taken for the whole question's feedback")
            found[condition.find(f".//{_QTI}varequal").text] = texts[name]
    return found


def _scored(item: Any) -> list[Any]:
    conditions = [c for c in item.iter(_QTI + "respcondition") if c.find(_QTI + "setvar") is not None]
    _need(conditions, "no response earns points")
    return conditions


def _choice(item: Any, feedback: Mapping[str, str]) -> tuple[tuple[CanvasAnswer, ...], dict[str, str]]:
    labels = {
        label.get("ident"): _html(label.find(_QTI + "material"))
        for label in item.iter(_QTI + "response_label")
    }
    _need(all(text.strip() for text in labels.values()), "an option without text")
    (scored,) = _scored(item)
    _need(scored.findtext(_QTI + "setvar") == "100", "the right answer doesn't earn 100 %")
    refused = {one.text for no in scored.iter(_QTI + "not") for one in no.iter(_QTI + "varequal")}
    right = {one.text for one in scored.iter(_QTI + "varequal")} - refused
    multiple = item.find(f".//{_QTI}response_lid").get("rcardinality") == "Multiple"
    _need(right and right <= set(labels), "the right options aren't among the options")
    _need(refused == (set(labels) - right if multiple else set()), "options that are neither right nor wrong")
    return tuple(
        CanvasAnswer(name, text, name in right, feedback=feedback.get(name, ""))
        for name, text in labels.items()
    ), {}


def _numerical(item: Any, feedback: Mapping[str, str]) -> tuple[tuple[CanvasAnswer, ...], dict[str, str]]:
    _need(item.find(f".//{_QTI}render_fib").get("fibtype") == "Decimal", "the field isn't one of a number")
    answers = []
    for number, condition in enumerate(_scored(item)):
        low, high = condition.find(f".//{_QTI}vargte"), condition.find(f".//{_QTI}varlte")
        # With an <or> the importer guesses significant digits from bounds that end in 5.
        _need(condition.find(f".//{_QTI}or") is None, "an exact answer with a margin is read as a precision")
        _need(low is not None and high is not None, "a number without range")
        answers.append(CanvasAnswer(str(number), low=_bound(low.text), high=_bound(high.text)))
    for answer in answers:
        assert answer.low is not None and answer.high is not None
        _need(answer.low <= answer.high, "an empty range")
        _need(_four(answer.low, up=True) <= answer.high, "no number of four decimals lies in the range")
    return tuple(answers), {}


def _bound(text: str) -> Decimal:
    """Return a bound as the importer keeps it: read as a float, and written as its shortest text."""
    return Decimal(repr(float(text)))


def _short_answer(item: Any, feedback: Mapping[str, str]) -> tuple[tuple[CanvasAnswer, ...], dict[str, str]]:
    (scored,) = _scored(item)
    texts = [one.text or "" for one in scored.iter(_QTI + "varequal")]
    _need(all(text.strip() for text in texts), "an empty accepted answer")
    return tuple(
        CanvasAnswer(str(n), text, feedback=feedback.get(text, "")) for n, text in enumerate(texts)
    ), {}


def _lids(item: Any) -> list[tuple[str, str, dict[str, str]]]:
    """Return the name, text and labels of each field of a question with several."""
    found = []
    for lid in item.iter(_QTI + "response_lid"):
        labels = {}
        for label in lid.iter(_QTI + "response_label"):
            text = label.find(f"{_QTI}material/{_QTI}mattext")
            labels[label.get("ident", "")] = (text.text or "").strip()
        name = lid.get("ident", "").removeprefix("response_")
        found.append((name, _html(lid.find(_QTI + "material")), labels))
    _need(found, "a question without fields")
    return found


def _blanks(item: Any, feedback: Mapping[str, str]) -> tuple[tuple[CanvasAnswer, ...], dict[str, str]]:
    return tuple(
        CanvasAnswer(ident, text, blank=blank, feedback=feedback.get(ident, ""))
        for blank, _, labels in _lids(item)
        for ident, text in labels.items()
    ), {}


def _matching(item: Any, feedback: Mapping[str, str]) -> tuple[tuple[CanvasAnswer, ...], dict[str, str]]:
    lids = _lids(item)
    matches = lids[0][2]
    _need(all(labels == matches for _, _, labels in lids), "left sides with other matches")
    _need(all(re.fullmatch(r"\d+", name) for name in matches), "a match whose identifier isn't a number")
    right = {
        one.get("respident", "").removeprefix("response_"): one.text or ""
        for condition in _scored(item)
        for one in condition.iter(_QTI + "varequal")
    }
    _need(set(right) == {name for name, _, _ in lids}, "a left side without a right match")
    _need(set(right.values()) <= set(matches), "a right match that isn't offered")
    shares = {condition.findtext(_QTI + "setvar") for condition in _scored(item)}
    _need(shares == {f"{100 / len(lids):.2f}"}, f"pairs earn {shares}")
    return tuple(CanvasAnswer(name, text, match=right[name]) for name, text, _ in lids), matches


# How Classic Quizzes mark.

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*))(?:\.([0-9]*))?\s*")
_SCIENTIFIC = re.compile(r"[+-]?[0-9]+(\.[0-9]*)?[eE][+-]?[0-9]+")
_STEP = Decimal("0.0001")


def _four(value: Decimal, *, up: bool = False) -> Decimal:
    rounded = value.quantize(_STEP, ROUND_HALF_UP)
    return rounded + _STEP if up and rounded < value else rounded


def typed_number(text: str) -> Decimal | None:
    """Return what the page sends for a typed number, None where it empties the field."""
    if _SCIENTIFIC.fullmatch(text.strip()):
        value = float(text)
    else:
        match = _NUMBER.fullmatch(text)
        whole, decimals = (match[1].replace(",", ""), match[2] or "") if match else ("", "")
        if not whole.strip("+-") + decimals:
            return None
        value = float(f"{whole}.{decimals}")
    return _four(Decimal(value))


def _same(typed: str) -> str:
    return typed.strip(" \t\n\v\f\r\0").lower()


Entered = str | Set[str] | Mapping[str, str] | None


def mark_canvas(question: CanvasQuestion, entered: Entered) -> Fraction | None:
    """Return the share of the points, None where a person marks.

    Parameters
    ----------
    question : CanvasQuestion
    entered : str, set of str, mapping of str to str, or None
        An answer's id or a typed text; the ids of all answers ticked; texts by blank, or matches by left
        side; None where nothing was entered.
    """
    if question.type == "essay_question":
        return None
    if not entered:
        return Fraction(0)
    right = {answer.id for answer in question.answers if answer.right}
    if question.type == "multiple_answers_question":
        picked = frozenset(entered)
        return max(Fraction(0), Fraction(len(picked & right) - len(picked - right), len(right)))
    if question.type in _CHOICES:
        return Fraction(entered in right)
    if isinstance(entered, Mapping):
        return _mark_parts(question, entered)
    assert isinstance(entered, str)
    if question.type == "short_answer_question":
        return Fraction(_same(entered) in {_same(answer.text) for answer in question.answers})
    number = typed_number(entered)
    return Fraction(
        number is not None
        and any(
            answer.low <= number <= answer.high
            for answer in question.answers
            if answer.low is not None and answer.high is not None
        )
    )


def _mark_parts(question: CanvasQuestion, entered: Mapping[str, str]) -> Fraction:
    if question.type == "matching_question":
        texts = question.matches
        hits = [
            texts.get(entered.get(answer.id, ""), "") == texts[answer.match] for answer in question.answers
        ]
    else:
        hits = [
            _same(entered.get(blank, ""))
            in {_same(answer.text) for answer in question.answers if answer.blank == blank}
            for blank in question.blanks
        ]
    return Fraction(sum(hits), len(hits))


def element_paths(root: Any) -> set[str]:
    """Return every path of elements with the names of their attributes, to compare the build of two files."""
    found: set[str] = set()

    def visit(element: Any, above: str) -> None:
        name = element.tag.rpartition("}")[2]
        path = f"{above}/{name}[{' '.join(sorted(element.attrib))}]"
        found.add(path)
        for child in element:
            visit(child, path)

    visit(root, "")
    return found
