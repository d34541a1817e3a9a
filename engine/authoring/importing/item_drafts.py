"""From a question to a problem file: drafted, proved by the loader and by lint, then written.

What a question loses on the way is noted, for the report and as comments at the head of the file; a question
without any counterpart is skipped with a reason. Files are written only after all of them have been tried,
so that an import either succeeds or leaves the folder as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from engine.authoring.importing.foreign_question import (
    FilePlace,
    ForeignQuestion,
    ImportNote,
    QuestionKind,
    SkippedQuestion,
    full_answers,
)
from engine.authoring.importing.imported_answers import choice_answer, matching_answer, token_answer
from engine.authoring.importing.imported_gaps import gap_item
from engine.authoring.importing.imported_numbers import number_answer
from engine.authoring.importing.imported_wholes import ordering_answer, rubric_answer
from engine.authoring.importing.question_texts import QuestionTexts, candidates, title_of, topics_of
from engine.authoring.importing.suggest_keys import AuthorKey, suggestion_lines
from engine.authoring.importing.to_markdown import ConvertedText
from engine.authoring.importing.yaml_writer import as_read, yaml_text
from engine.authoring.lint import lint_item
from engine.authoring.scaffold import create_all
from engine.errors import Diagnostic, EngineError, ExchangeError, SpecError
from engine.items import load_spec
from engine.items.bank import Bank
from engine.text.files import write_errors
from engine.text.words import agree, clean_line, count_noun
from engine.text.yaml import read_yaml

_BLOOM = {
    QuestionKind.CHOICE: "understand",
    QuestionKind.TOKEN: "remember",
    QuestionKind.NUMBER: "apply",
    QuestionKind.MATCHING: "understand",
    QuestionKind.ORDERING: "understand",
    QuestionKind.ESSAY: "understand",
    QuestionKind.GAPS: "apply",
}
_DIFFICULTY = re.compile("difficulty-[1-5]")
_LEVELS = frozenset({"remember", "understand", "apply", "analyse", "evaluate", "create"})
_MAX_POINTS = 1000  # as in the schema, like the next one
_MAX_HINTS = 10
_MAX_STEM = 56  # of an item's id within a mistake's: "m-" and a number must fit into 64
# imported items draw no numbers: a few orders of their options show all that lint looks at
_SEEDS = 2


@dataclass
class ItemDraft:
    """A problem file that has no id yet.

    Parameters
    ----------
    question : ForeignQuestion
    data : dict
        The keys after ``id``, in order.
    notes : list of ImportNote
        What isn't kept, or what somebody should look at.
    key_suggestion : list of str
        Comment lines for a key that could be an expression; empty if there is nothing to recompute.
    origin : str
        Where the question comes from, in words.
    """

    question: ForeignQuestion
    data: dict[str, Any]
    notes: list[ImportNote]
    origin: str
    key_suggestion: list[str] = field(default_factory=list)

    def content(self, item_id: str) -> dict[str, Any]:
        """Return what the file holds; known mistakes get ids made of the item's."""
        data = {"id": item_id, **self.data}
        stem = item_id[:_MAX_STEM].rstrip("-")
        numbers = count(1)

        def named(part: dict[str, Any]) -> dict[str, Any]:
            if "misconceptions" not in part:
                return part
            mistakes = [{**entry, "id": f"m-{stem}-{next(numbers)}"} for entry in part["misconceptions"]]
            return {**part, "misconceptions": mistakes}

        data = named(data)
        if "steps" in data:
            data["steps"] = [named(step) for step in data["steps"]]
        return data

    @property
    def kind(self) -> str:
        """Name of the answer type; ``steps`` for several."""
        return self.data["answer"]["type"] if "answer" in self.data else "steps"

    def text(self, item_id: str) -> str:
        """Return the file's text."""
        head = [
            f"Imported from {self.origin}.",
            "Read it before it is used: difficulty and bloom are guesses.",
        ]
        if self.notes:
            head += ["Not kept, or changed:", *(f"- {note.message}" for note in self.notes)]
        return yaml_text(self.content(item_id), {"": head, "answer": self.key_suggestion})


def to_spec(question: ForeignQuestion, file: str) -> ItemDraft:
    """Return the draft of a problem file for a question.

    Parameters
    ----------
    question : ForeignQuestion
        One that passed :func:`engine.authoring.importing.foreign_question.check_question`.
    file : str
        The name of its file, for the source.

    Raises
    ------
    UnfitError
        It has no counterpart here.
    """
    texts = QuestionTexts()
    body = _body(question, texts)
    title = title_of(question.name, body.stem.words)
    tags = _tags_of(question)
    data: dict[str, Any] = {
        "title": title,
        "source": {"document": "background", "note": clean_line(f"imported from {file}", 300)},
        # guesses, as the head of the file says, unless our own export stated them
        "difficulty": int(tags.difficulty[-1]) if tags.difficulty else 2,
        "bloom": tags.bloom or _BLOOM[question.kind],
        "topics": topics_of(tags.category, tags.topics),
        **({} if body.has_own_points else {"points": _points(question.points, texts)}),
        "variants": body.variants,
        "stem": body.stem.prose,
        **body.sections,
    }
    if body.mistakes:
        data["misconceptions"] = body.mistakes
    data |= _hints_and_solution(question, texts)
    key_suggestion = suggestion_lines(body.stem.words, body.key)
    origin = f"{file}, {question.place} ({question.type})"
    if question.category:
        origin += f", category {question.category}"
    return ItemDraft(question, data, [*question.notes, *texts.notes], clean_line(origin, 280), key_suggestion)


@dataclass(frozen=True, slots=True)
class _ReadTags:
    difficulty: str
    bloom: str
    topics: tuple[str, ...]
    category: str


def _tags_of(question: ForeignQuestion) -> _ReadTags:
    """Return what tags and folders say; those of our own exports state difficulty, level, id and variants."""
    difficulty = next((tag for tag in question.tags if _DIFFICULTY.fullmatch(tag)), "")
    if not difficulty:
        return _ReadTags("", "", question.tags, question.category)
    bloom = next((tag for tag in question.tags if tag in _LEVELS), "")
    topics = tuple(tag for tag in question.tags[:-1] if tag not in (difficulty, bloom))
    # the category of an item's variants is called after the item
    return _ReadTags(difficulty, bloom, topics, question.category.rpartition("/")[0])


@dataclass(frozen=True, slots=True)
class _ItemBody:
    """What depends on the kind of question: the stem, ``answer`` or ``steps``, and what goes with them."""

    stem: ConvertedText
    sections: dict[str, Any]
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    variants: int = 1
    key: AuthorKey | None = None

    @property
    def has_own_points(self) -> bool:
        """Whether the points are the sum of those of its parts."""
        return "steps" in self.sections or self.sections["answer"]["type"] == "free_text"


def _body(question: ForeignQuestion, texts: QuestionTexts) -> _ItemBody:
    if question.kind is QuestionKind.GAPS:
        gaps = gap_item(question, texts)
        return _ItemBody(gaps.stem, gaps.sections, gaps.mistakes)
    stem = texts.needed(question.text, "the text", inline=False, place=question.place)
    if question.kind is QuestionKind.CHOICE:
        choice = choice_answer(question, texts)
        key = AuthorKey("single_choice", choice.key) if choice.key else None
        return _ItemBody(stem, {"answer": choice.data}, variants=choice.variants, key=key)
    if question.kind is QuestionKind.NUMBER:
        data, mistakes = number_answer(question, texts)
        return _ItemBody(stem, {"answer": data}, mistakes, key=AuthorKey("number", data["key"]))
    if question.kind is QuestionKind.TOKEN:
        data, mistakes = token_answer(question, texts)
        return _ItemBody(stem, {"answer": data}, mistakes, key=AuthorKey("number", data["accepted"][0]))
    whole = {
        QuestionKind.MATCHING: matching_answer,
        QuestionKind.ORDERING: ordering_answer,
        QuestionKind.ESSAY: rubric_answer,
    }[question.kind]
    return _ItemBody(stem, {"answer": whole(question, texts)})


def _points(points: Decimal, texts: QuestionTexts) -> int | float:
    if not 0 < points <= _MAX_POINTS:
        texts.note(f"{count_noun(points, 'point')} {agree(points, 'are')}n't possible here; it has 1")
        return 1
    return int(points) if points == points.to_integral_value() else float(points)


def _hints_and_solution(question: ForeignQuestion, texts: QuestionTexts) -> dict[str, Any]:
    sections: dict[str, Any] = {}
    hints = [
        texts.optional(hint, f"hint {n}", inline=False) for n, hint in enumerate(question.hints, start=1)
    ]
    hints = [hint for hint in hints if hint]
    if len(hints) > _MAX_HINTS:
        texts.note(f"it has {count_noun(len(hints), 'hint')}; the first {_MAX_HINTS} are kept")
    if hints:
        sections["hints"] = hints[:_MAX_HINTS]
    solution = texts.optional(question.general, "feedback for everybody", inline=False)
    if question.kind in (QuestionKind.NUMBER, QuestionKind.TOKEN):
        solution = _with_praise(solution, question, texts)
    if solution:
        sections["solution"] = solution
    return sections


def _with_praise(solution: str, question: ForeignQuestion, texts: QuestionTexts) -> str:
    """Return the solution; feedback for right answers takes its place where there is none."""
    for answer in full_answers(question):
        praise = texts.feedback(answer.feedback, "feedback for the right answer", place=answer.place)
        if not solution:
            solution = praise
        elif praise and praise != solution:
            texts.note("feedback for the right answer isn't kept", answer.place)
    return solution


@dataclass(frozen=True, slots=True)
class ImportedItem:
    """One question that became a problem file.

    Parameters
    ----------
    id : str
    path : Path
    type : str
        Answer type.
    name : str
        Its author's name for it.
    place : FilePlace
        Where it begins in the file that was read.
    notes : tuple of ImportNote
    key_suggestion : tuple of str
        Comment lines for a key that could be an expression; empty if there is nothing to recompute.
    is_new : bool
        False where the very same file was there already.
    """

    id: str
    path: Path
    type: str
    name: str
    place: FilePlace
    notes: tuple[ImportNote, ...] = ()
    key_suggestion: tuple[str, ...] = ()
    is_new: bool = True

    def as_json(self) -> dict[str, Any]:
        """Return the item as scripts get it."""
        return {
            "id": self.id,
            "file": str(self.path),
            "type": self.type,
            "name": self.name,
            **_place_of(self.place),
            "new": self.is_new,
            "notes": [
                {"line": (note.place or self.place).line, "message": note.message} for note in self.notes
            ],
            "key_typed_by_hand": bool(self.key_suggestion),
            "suggested_keys": [
                line.partition('"')[2].removesuffix('"') for line in self.key_suggestion if 'key: "' in line
            ],
        }


def _place_of(place: FilePlace) -> dict[str, Any]:
    """Return a question's line, and its file within a package."""
    return {"entry": place.file, "line": place.line} if place.file else {"line": place.line}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Everything that an import reports.

    Parameters
    ----------
    file : str
    format : str
    encoding : str
    guessed_encoding : bool
    items : tuple of ImportedItem
    skipped : tuple of SkippedQuestion
        In the order of the file.
    faults : tuple of Diagnostic
        Faults of the file, where they were no reason to stop.
    """

    file: str
    format: str
    encoding: str
    guessed_encoding: bool
    items: tuple[ImportedItem, ...]
    skipped: tuple[SkippedQuestion, ...]
    faults: tuple[Diagnostic, ...] = ()

    @property
    def key_suggestions(self) -> tuple[str, ...]:
        """Ids of the items whose key could be an expression."""
        return tuple(item.id for item in self.items if item.key_suggestion)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade import --json``."""
        return {
            "file": self.file,
            "format": self.format,
            "encoding": self.encoding,
            "encoding_guessed": self.guessed_encoding,
            "items": [item.as_json() for item in self.items],
            "skipped": [
                {
                    "name": skip.name,
                    "type": skip.type,
                    **_place_of(skip.place),
                    "column": skip.place.column,
                    "reason": skip.reason,
                    "next_step": skip.next_step,
                }
                for skip in self.skipped
            ],
            "faults": [
                {"line": fault.line, "column": fault.column, "message": fault.message}
                for fault in self.faults
            ],
            "key_typed_by_hand": list(self.key_suggestions),
        }


@dataclass(frozen=True, slots=True)
class PreparedItem:
    """A problem file that may be written."""

    item: ImportedItem
    text: str


def prepare(
    drafts: Sequence[ItemDraft], folder: Path, bank: Bank, advance: Callable[[], None] = lambda: None
) -> tuple[list[PreparedItem], list[SkippedQuestion]]:
    """Give every draft an id, and try it out.

    Parameters
    ----------
    drafts : sequence of ItemDraft
    folder : Path
        Where the files will be.
    bank : Bank
        Its ids aren't free, and its registry of known mistakes is used.
    advance : callable
        Called after each draft.

    Returns
    -------
    prepared : list of PreparedItem
        The items that load and lint without errors.
    skipped : list of SkippedQuestion
        The others, each with the reason.
    """
    ids = _Ids(folder, frozenset(bank.ids()))
    prepared: list[PreparedItem] = []
    skipped: list[SkippedQuestion] = []
    with TemporaryDirectory() as trial:  # the loader reads files: nothing of the course is touched yet
        for number, draft in enumerate(drafts, start=1):
            item_id, text, is_new = ids.find(draft, number)
            fault = _fault_of(draft, Path(trial) / f"{item_id}.yaml", text, bank)
            advance()
            question = draft.question
            if fault is not None:
                reason = f"our check refuses it: {fault}"
                step = "change it in its system, or write the item by hand"
                skipped.append(SkippedQuestion(question.name, question.type, question.place, reason, step))
                continue
            ids.used.add(item_id)
            item = ImportedItem(
                item_id,
                folder / f"{item_id}.yaml",
                draft.kind,
                question.name or draft.data["title"],
                question.place,
                tuple(draft.notes),
                tuple(draft.key_suggestion),
                is_new,
            )
            prepared.append(PreparedItem(item, text))
    return prepared, skipped


class _Ids:
    """Free ids: not used in the bank, by a file of the folder, or earlier in this import."""

    def __init__(self, folder: Path, bank: frozenset[str]) -> None:
        self._folder = folder
        self._bank = bank
        self.used: set[str] = set()

    def find(self, draft: ItemDraft, number: int) -> tuple[str, str, bool]:
        """Return an id, the file's text, and whether it is new.

        A file that is there with the very same text counts as this question, so importing twice adds nothing.
        """
        for item_id in candidates(draft.question.name or draft.data["title"], number):
            if item_id in self.used:
                continue
            path, text = self._folder / f"{item_id}.yaml", draft.text(item_id)
            if path.exists() or path.is_symlink():
                if _holds(path, text):
                    return item_id, text, False
            elif item_id not in self._bank:
                return item_id, text, True
        raise EngineError("no id is free", where=str(self._folder))


def _holds(path: Path, text: str) -> bool:
    try:
        return path.is_file() and path.read_bytes() == text.encode("utf-8")
    except OSError:
        return False


def _fault_of(draft: ItemDraft, path: Path, text: str, bank: Bank) -> str | None:
    path.write_bytes(text.encode("utf-8"))
    try:
        data = read_yaml(path).data
        # what is written must be read back as meant: foreign text goes into YAML here
        if data != as_read(draft.content(path.stem)):
            raise EngineError(
                "a problem file doesn't hold what was meant", where=path.name, next_step="report the question"
            )
        spec = load_spec(path, registry=bank.registry())
    except SpecError as problem:
        return clean_line(problem.what, 300)
    errors = lint_item(spec, path, bank, seeds=_SEEDS).errors
    return clean_line(errors[0].message, 300) if errors else None


def write_all(prepared: Sequence[PreparedItem], folder: Path) -> None:
    """Write the new files; all of them, or none.

    Raises
    ------
    ExchangeError
        The folder can't be made, or a file can't be written or has appeared meanwhile.
    """
    with write_errors(
        "the items can't be written, so none was",
        folder,
        next_step="name another folder with --out",
        kind=ExchangeError,
    ):
        folder.mkdir(parents=True, exist_ok=True)
        create_all({entry.item.path: entry.text for entry in prepared if entry.item.is_new})
