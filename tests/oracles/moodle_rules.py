"""What Moodle's import makes of a file of Moodle XML, and why it would take nothing of it.

Written from the behaviour of Moodle 4.5 and 5.0 (their import of XML, the question types and the list of
grades), without any code of Softmark: a file is read as Moodle's importer reads it, with all that stops an
import in ``problems``. :mod:`tests.oracles.moodle_marks` marks responses to what was read.
"""

from __future__ import annotations

import base64
import re
from binascii import Error as Base64Error
from dataclasses import dataclass, field
from decimal import Decimal
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from tests.oracles.moodle_cloze import ClozeField, cloze_fields

__all__ = ["LISTED", "ImportedFile", "MoodleAnswer", "MoodleQuestion", "imported", "listed_fraction"]

# The grades that Moodle offers, from 1/20 to 1; their negatives are offered too.
_GRADES = (
    "0.9", "0.8333333", "0.8", "0.75", "0.7", "0.6666667", "0.6", "0.5", "0.4", "0.3333333", "0.3", "0.25",
    "0.2", "0.1666667", "0.1428571", "0.125", "0.1111111", "0.1", "0.05",
)  # fmt: skip
LISTED = frozenset(
    {0.0, 1.0, -1.0} | {float(grade) for grade in _GRADES} | {-float(grade) for grade in _GRADES}
)
_FORMATS = {"html", "markdown", "plain_text", "moodle_auto_format", "wiki_like"}
_TYPES = {
    "category", "multichoice", "truefalse", "shortanswer", "numerical", "matching", "match", "cloze",
    "multianswer", "essay", "description", "ordering",
}  # fmt: skip
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_CONTEXT = re.compile(r"\$([a-z]+)\$")
_PLACE = re.compile(r"@@PLUGINFILE@@/([^\"'\s<>]+)")
# columns of Moodle's database
_LONGEST_NAME = 255
_LONGEST_TAG = 50
_LONGEST_MATCH = 255
GRADING_TYPES = {
    "ALL_OR_NOTHING", "ABSOLUTE_POSITION", "RELATIVE_NEXT_EXCLUDE_LAST", "RELATIVE_NEXT_INCLUDE_LAST",
    "RELATIVE_ONE_PREVIOUS_AND_NEXT", "RELATIVE_ALL_PREVIOUS_AND_NEXT", "LONGEST_ORDERED_SUBSET",
    "LONGEST_CONTIGUOUS_SUBSET", "RELATIVE_TO_CORRECT",
}  # fmt: skip


def listed_fraction(fraction: float) -> float | None:
    """Return the grade of Moodle's list that a fraction stands for, None if it stands for none."""
    return next((grade for grade in LISTED if abs(grade - fraction) < 0.00001), None)


@dataclass(frozen=True)
class MoodleAnswer:
    """One answer: an option, an expected number or an expected text."""

    text: str
    fraction: float
    feedback: str = ""
    tolerance: float = 0.0


@dataclass(frozen=True)
class MoodleQuestion:
    """One question as Moodle keeps it; ``kind`` is the name of its type."""

    kind: str
    name: str
    text: str
    category: str = ""
    points: float = 1.0
    answers: tuple[MoodleAnswer, ...] = ()
    single: bool = True
    usecase: bool = False
    pairs: tuple[tuple[str, str], ...] = ()
    grading: str = ""
    fields: tuple[ClozeField, ...] = ()
    tags: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    general: str = ""
    grader: str = ""
    idnumber: str = ""
    files: tuple[str, ...] = ()


@dataclass
class ImportedFile:
    """What an import would write: nothing at all if there is any problem."""

    questions: list[MoodleQuestion] = field(default_factory=list)
    categories: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def imported(data: bytes) -> ImportedFile:
    """Return what Moodle's import makes of a file, with its defaults: it stops on any error."""
    found = ImportedFile()
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as fault:
        found.problems.append(f"not XML: {fault}")
        return found
    if root.tag != "quiz":
        found.problems.append(f"the root is <{root.tag}>, not <quiz>")
        return found
    category, numbers = "", set[tuple[str, str]]()
    for element in root:
        kind = element.get("type", "")
        if element.tag != "question" or kind not in _TYPES:
            found.problems.append(f"<{element.tag} type={kind!r}> isn't supported")
        elif kind == "category":
            category = _category(element, found)
        else:
            reader = _QuestionReader(element, kind, found.problems)
            question = reader.question(category)
            if question.idnumber and (category, question.idnumber) in numbers:
                found.problems.append(f"{question.name}: two questions of a category share an ID number")
            numbers.add((category, question.idnumber))
            found.questions.append(question)
    return found


def _category(element: Element, found: ImportedFile) -> str:
    path = _text(element.find("category")).strip()
    names = [name.replace("//", "/").strip() for name in re.split("(?<!/)/(?!/)", path)]
    context = _CONTEXT.fullmatch(names[0])
    # Question banks of Moodle 5 are activities: a path into a course's context ends nowhere.
    if context is None or context[1] != "module" or len(names) < 3 or names[1] != "top":
        found.problems.append(f"category {path!r} doesn't begin with $module$/top/")
    if any(not name or len(name) > _LONGEST_NAME for name in names):
        found.problems.append(f"category {path!r} holds an empty or too long name")
    # Moodle cleans each name as it cleans a parameter, which drops a tag and whatever looks like one.
    if "<" in path:
        found.problems.append(f"category {path!r}: what follows < is dropped")
    info = element.find("info")
    if info is not None and info.get("format") not in _FORMATS:
        found.problems.append(f"category {path!r}: <info> states no known format")
    found.categories.setdefault(path, _text(info))
    return path


def _text(element: Element | None) -> str:
    inner = None if element is None else element.find("text")
    return (inner.text or "").strip() if inner is not None else ""


class _QuestionReader:
    """Reads one question; everything that stops the import is noted with the question's name."""

    def __init__(self, element: Element, kind: str, problems: list[str]) -> None:
        self.element = element
        self.kind = {"match": "matching", "multianswer": "cloze"}.get(kind, kind)
        self._problems = problems
        self._name = _text(element.find("name"))
        self._files: list[str] = []

    def _fault(self, message: str) -> None:
        self._problems.append(f"{self._name or '(no name)'}: {message}")

    def question(self, category: str) -> MoodleQuestion:
        """Return the question, whatever is wrong with it."""
        self._check_name()
        text = self._rich("questiontext")
        common = {
            "kind": self.kind,
            "name": self._name,
            "text": text,
            "category": category,
            "points": self._float("defaultgrade", 1.0),
            "tags": self._tags(),
            "hints": tuple(self._own_text(hint) for hint in self.element.findall("hint")),
            "general": self._rich("generalfeedback"),
            "idnumber": (self.element.findtext("idnumber") or "").strip(),
        }
        penalty = self._float("penalty", 1 / 3)
        if not 0 <= penalty <= 1:
            self._fault(f"penalty {penalty}")
        for tag in ("correctfeedback", "partiallycorrectfeedback", "incorrectfeedback"):
            self._rich(tag)
        special = getattr(self, f"_{self.kind}")()
        if self.kind == "cloze":
            # the question is worth what its fields weigh together
            common["points"] = float(sum(part.weight for part in special["fields"]))
        return MoodleQuestion(**common, **special, files=tuple(self._files))

    def _check_name(self) -> None:
        if not self._name:
            self._fault("no <name>")
        if re.search(r"<[a-zA-Z/!?]", self._name):
            self._fault("Moodle strips what looks like a tag from names")
        if len(self._name) > _LONGEST_NAME:
            self._fault(f"a name of {len(self._name)} characters is cut")

    def _rich(self, tag: str) -> str:
        element = self.element.find(tag)
        if element is None:
            if tag == "questiontext":
                self._fault("no <questiontext>")
            return ""
        return self._own_text(element)

    def _own_text(self, element: Element) -> str:
        form = element.get("format", "html")
        if form not in _FORMATS:
            self._fault(f"<{element.tag}> has the format {form!r}")
        text = _text(element)
        self._check_files(element, text)
        return text

    def _check_files(self, element: Element, text: str) -> None:
        files = element.findall("file")
        names = [file.get("name", "") for file in files]
        for file in files:
            try:
                if not base64.b64decode(file.text or "", validate=True):
                    self._fault(f"file {file.get('name')!r} is empty")
            except Base64Error:
                self._fault(f"file {file.get('name')!r} isn't base64")
            if file.get("encoding") != "base64" or file.get("path", "/") != "/":
                self._fault(f"file {file.get('name')!r} states no path / or no encoding base64")
        if len(set(names)) < len(names):
            self._fault("two files of one text share a name")
        if set(_PLACE.findall(text)) != set(names):
            self._fault(f"<{element.tag}> names {_PLACE.findall(text)} and carries {names}")
        self._files += names

    def _float(self, tag: str, otherwise: float) -> float:
        word = (self.element.findtext(tag) or "").strip()
        if not word:
            return otherwise
        if not _NUMBER.fullmatch(word):
            self._fault(f"<{tag}> is {word!r}")
            return otherwise
        return float(word)

    def _flag(self, tag: str, otherwise: bool) -> bool:
        word = self.element.findtext(tag)
        return otherwise if word is None else word.strip() not in ("", "0", "false")

    def _tags(self) -> tuple[str, ...]:
        holder = self.element.find("tags")
        tags = tuple(_text(tag) for tag in (holder.findall("tag") if holder is not None else ()))
        for tag in tags:
            if not tag or len(tag) > _LONGEST_TAG or re.search(r"[&<>`,\x00-\x1f]", tag):
                self._fault(f"tag {tag!r} is changed or cut")
        return tags

    def _answers(self, *, is_plain: bool = False) -> tuple[MoodleAnswer, ...]:
        answers = []
        for element in self.element.findall("answer"):
            word = element.get("fraction", "0")
            share = listed_fraction(float(word) / 100) if _NUMBER.fullmatch(word) else None
            if share is None:
                self._fault(f"the fraction {word} isn't listed")
            text = _text(element) if is_plain else self._own_text(element)
            feedback = element.find("feedback")
            words = "" if feedback is None else self._own_text(feedback)
            tolerance = (element.findtext("tolerance") or "0").strip()
            if not _NUMBER.fullmatch(tolerance):
                self._fault(f"the tolerance {tolerance!r} isn't a number")
                tolerance = "0"
            if not text:
                self._fault("an answer is empty")
            answers.append(MoodleAnswer(text, share or 0.0, words, float(tolerance)))
        return tuple(answers)

    def _check_full(self, answers: tuple[MoodleAnswer, ...]) -> None:
        if not any(answer.fraction == 1 for answer in answers):
            self._fault("no answer is worth 100 %")

    def _multichoice(self) -> dict[str, object]:
        answers, single = self._answers(), self._flag("single", True)
        if len(answers) < 2:
            self._fault("a choice needs two answers")
        if single:
            self._check_full(answers)
        elif round(sum(answer.fraction for answer in answers if answer.fraction > 0), 2) != 1:
            self._fault("what the right options earn doesn't add up to 100 %")
        return {"answers": answers, "single": single}

    def _truefalse(self) -> dict[str, object]:
        return {"answers": self._answers(is_plain=True)}

    def _shortanswer(self) -> dict[str, object]:
        answers = self._answers(is_plain=True)
        self._check_full(answers)
        return {"answers": answers, "usecase": self._flag("usecase", False)}

    def _numerical(self) -> dict[str, object]:
        answers = self._answers(is_plain=True)
        self._check_full(answers)
        for answer in answers:
            if answer.text != "*" and not _NUMBER.fullmatch(answer.text):
                self._fault(f"the answer {answer.text!r} isn't a number")
            # kept with 14 digits: anything finer is lost
            elif answer.text != "*" and len(Decimal(answer.text).as_tuple().digits) > 14:
                self._fault(f"the answer {answer.text} has more than 14 digits")
        if self.element.findtext("showunits", "3").strip() != "3" or self.element.find("units") is not None:
            self._fault("units are shown")
        return {"answers": answers}

    def _matching(self) -> dict[str, object]:
        pairs = []
        for element in self.element.findall("subquestion"):
            stem, target = self._own_text(element), _text(element.find("answer"))
            if not target:
                self._fault("a pair has no answer")
            if len(target) > _LONGEST_MATCH:
                self._fault(f"an answer of a pair has {len(target)} characters; the column takes 255")
            pairs.append((stem, target))
        if sum(bool(stem) for stem, _ in pairs) < 2 or len({target for _, target in pairs}) < 2:
            self._fault("a matching needs two pairs")
        return {"pairs": tuple(pairs)}

    def _cloze(self) -> dict[str, object]:
        text = _text(self.element.find("questiontext"))
        fields, faults = cloze_fields(text)
        for fault in faults:
            self._fault(fault)
        return {"fields": tuple(fields)}

    def _essay(self) -> dict[str, object]:
        if self.element.findtext("responseformat", "editor").strip() not in (
            "editor", "editorfilepicker", "plain", "monospaced", "noinline",
        ):  # fmt: skip
            self._fault("unknown response format")
        return {"grader": self._rich("graderinfo")}

    def _description(self) -> dict[str, object]:
        return {}

    def _ordering(self) -> dict[str, object]:
        answers = []
        for element in self.element.findall("answer"):
            text = self._own_text(element)
            if not text:
                self._fault("a card is empty")
            answers.append(MoodleAnswer(text, 1.0))
        if len(answers) < 2:
            self._fault("an ordering needs two cards")
        # without it the import makes up hints that have no text, and fails on writing them
        if self.element.find("shownumcorrect") is None:
            self._fault("an ordering without <shownumcorrect> aborts the whole import")
        grading = (self.element.findtext("gradingtype") or "").strip()
        if grading not in GRADING_TYPES:
            self._fault(f"the grading type {grading!r} is replaced by another")
        if (self.element.findtext("selecttype") or "").strip() != "ALL":
            self._fault("not all cards are shown")
        if (self.element.findtext("layouttype") or "").strip() not in ("VERTICAL", "HORIZONTAL"):
            self._fault("unknown layout")
        return {"answers": tuple(answers), "grading": grading}
