"""Reads QTI 1.2 as Canvas writes it, and as others write it for Canvas: quizzes, question groups and banks.

Where the conditions of a question and what Canvas makes of them differ, Canvas decides: it takes wrong picks
off right ones, whatever a question of several answers says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction

from engine.authoring.importing.canvas_blanks import blanks_question, own_pairs_question, own_typed_question
from engine.authoring.importing.canvas_item import (
    CanvasItem,
    CanvasTrial,
    compared_with,
    intervals_of,
    labels_of,
    material_text,
    prompt_text,
)
from engine.authoring.importing.foreign_question import (
    NOTHING,
    AcceptedNumber,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    ForeseenAnswer,
    ImportNote,
    MarkedText,
    MatchingPair,
    QuestionFile,
    QuestionKind,
    SkippedQuestion,
    SourceText,
    TextForm,
    check_question,
    read_decimal,
)
from engine.authoring.importing.imported_wholes import NO_RUBRIC
from engine.authoring.importing.qti_fields import as_share
from engine.authoring.importing.qti_marking import TrialBudget, UnreadRules, unread_reason
from engine.authoring.importing.qti_typed import without_spellings
from engine.authoring.importing.question_texts import UnfitError
from engine.authoring.importing.text_blocks import TextTooLong
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement, read_tree
from engine.text.words import clean_line

ROOT = "questestinterop"
# a file holds a whole quiz: its questions stand in a group in a section in the assessment
BOUNDS = TreeBounds(
    depth=64,
    elements=1_000_000,
    inside=20_000,
    in_root=5_000,
    deep="nothing that people read is nested so deep",
)
_MARKABLE = "ask for something that can be marked by itself, such as a choice or a number"
_AS_FAMILY = "write it as a family, whose key is recomputed: grade new item ID --type number"
_OTHERS: dict[str, tuple[str, str]] = {
    "essay_question": NO_RUBRIC,
    "text_only_question": (
        "it only shows a text and asks nothing",
        "put the text into the stem of the items that need it",
    ),
    "file_upload_question": ("a file is handed in", _MARKABLE),
    "calculated_question": (
        "its numbers are drawn by Canvas, and its key is a formula of Canvas's",
        _AS_FAMILY,
    ),
    "hotspot": ("a picture is clicked on", _MARKABLE),
}
# what Common Cartridge calls the types; several answers are all or nothing there
_PROFILES = {
    "multiple_choice": "multiple_choice_question",
    "true_false": "true_false_question",
    "multiple_response": "several, by their conditions",
    "fib": "short_answer_question",
    "pattern_match": "short_answer_question",
    "essay": "essay_question",
}
# no number and no word that somebody would accept
_NONSENSE = ("-98765432.125", "\u2603 no such word")
_MOST_OPTIONS = 60
_MOST_TEXTS = 1_000
_MOST_FIELDS = 60


def read_canvas(source: SourceText) -> QuestionFile:
    """Return the questions of a file, what has no counterpart here, and every fault with its place."""
    faults = FileFaults(source)
    root = read_tree(source, faults, BOUNDS)
    quiz = CanvasQuiz(faults, TrialBudget())
    if root is not None and root.tag.rpartition(":")[2] != ROOT:
        faults.add(root.place, f"QTI 1.2 begins with <{ROOT}>, not with <{clean_line(root.tag, 40)}>")
    elif root is not None:
        quiz.read(root)
    return QuestionFile(tuple(quiz.questions), tuple(quiz.skipped), faults.in_order())


def count_items(root: XmlElement) -> int:
    """Return how many questions a file holds."""
    return sum(element.tag.rpartition(":")[2] == "item" for element in root.inside())


@dataclass(frozen=True, slots=True)
class _Group:
    """Where a question stands: the titles above it, what each question there is worth, and its name."""

    titles: tuple[str, ...] = ()
    points: Decimal | None = None
    ident: str = ""


@dataclass
class CanvasQuiz:
    """Reads the questions of a file.

    Parameters
    ----------
    faults : FileFaults
    budget : TrialBudget
        What may be tried in the whole package.
    entry : str
        The file within its package.
    advance : callable
        Called after each question.
    """

    faults: FileFaults
    budget: TrialBudget
    entry: str = ""
    advance: Callable[[], None] = lambda: None
    questions: list[ForeignQuestion] = field(default_factory=list)
    skipped: list[SkippedQuestion] = field(default_factory=list)

    def read(self, holder: XmlElement, group: _Group = _Group()) -> None:
        """Read the questions in an element: a quiz, a bank, a section of it."""
        for child in holder.children:
            tag = child.tag.rpartition(":")[2]
            if tag == "item":
                self._read_item(child, group)
                self.advance()
            elif tag in ("assessment", "objectbank", "section"):
                self.read(child, _group_of(child, tag, group))

    def _read_item(self, root: XmlElement, group: _Group) -> None:
        name = root.attributes.get("title", "") or root.attributes.get("ident", "")
        place = FilePlace(root.place.line, root.place.column, self.entry)
        item = CanvasItem(root, self.budget)
        kind = _type_of(item)
        before = len(self.faults)
        question = ForeignQuestion(
            QuestionKind.CHOICE,
            name,
            kind,
            place,
            MarkedText(item.text, TextForm.HTML),
            points=_points_of(item, group),
            category="/".join(_without_title(title, name).replace("/", "//") for title in group.titles),
        )
        try:
            made = self._made(question, item, kind, group)
        except (UnfitError, UnreadRules, TextTooLong) as problem:
            self.skipped.append(SkippedQuestion(name, kind, place, *unread_reason(problem)))
            return
        check_question(made, self.faults)
        if len(self.faults) == before:
            self.questions.append(made)

    def _made(self, question: ForeignQuestion, item: CanvasItem, kind: str, group: _Group) -> ForeignQuestion:
        if kind in _OTHERS:
            raise UnfitError(*_OTHERS[kind])
        read = _READERS.get(kind)
        if read is None:
            raise UnfitError(f"the type '{clean_line(kind, 40)}' isn't known here", _MARKABLE)
        if not item.fields:
            raise UnfitError("it has no field for an answer", "add one")
        if len(item.fields) > _MOST_FIELDS:
            raise UnfitError(f"it has over {_MOST_FIELDS} fields", "make several of it")
        # our own export asks in words that it adds; the names that it gives tell its questions
        ident = item.root.attributes.get("ident", "")
        reference = item.metadata.get("assessment_question_identifierref")
        is_own = reference == f"{ident}-bank" and ident.startswith(group.ident.removesuffix("group"))
        return read(question, item, is_own=is_own and group.ident.endswith("-group"))


def _group_of(section: XmlElement, tag: str, outer: _Group) -> _Group:
    """Return where the questions of a section stand; the quiz's own title is no topic."""
    ident, title = section.attributes.get("ident", ""), section.attributes.get("title", "").strip()
    points: Decimal | None = None
    for element in section.inside():
        name = element.tag.rpartition(":")[2]
        # what comes later belongs to a question, or to a section within this one
        if name in ("item", "section"):
            break
        if name == "points_per_item":
            points = read_decimal(element.text)
        elif name == "fieldentry" and tag == "objectbank":
            title = title or element.text.strip()
    titles = (*outer.titles, title[:200]) if title and tag != "assessment" else outer.titles
    return _Group(titles, points, ident)


def _without_title(title: str, name: str) -> str:
    """Return a group's title without the item's, which our own export puts behind the topics."""
    return title.removesuffix(name).rstrip(" -") or title if name else title


def _points_of(item: CanvasItem, group: _Group) -> Decimal:
    if group.points is not None and group.points > 0:
        return group.points
    return read_decimal(item.metadata.get("points_possible", "")) or Decimal(1)


def _type_of(item: CanvasItem) -> str:
    """Return Canvas's name of the type: as stated, as Common Cartridge states it, or by the fields."""
    if stated := item.metadata.get("question_type", ""):
        return stated
    profile = item.metadata.get("cc_profile", "").removeprefix("cc.").partition(".v")[0]
    if profile in _PROFILES:
        return _PROFILES[profile]
    if not item.fields:
        return "text_only_question"
    first = item.fields[0]
    if first.tag in ("response_xy", "response_grp"):
        return "hotspot"
    if len(item.fields) > 1:
        return "matching_question" if first.tag == "response_lid" else "fields of several kinds"
    if first.tag == "response_lid":
        return _PROFILES["multiple_response" if _is_multiple(first) else "multiple_choice"]
    if not any(True for _ in item.scoring()):
        return "essay_question"
    return "numerical_question" if _is_number(first) else "short_answer_question"


def _is_multiple(response: XmlElement) -> bool:
    return response.attributes.get("rcardinality", "Single") == "Multiple"


def _is_number(response: XmlElement) -> bool:
    kinds = {element.attributes.get("fibtype", "String") for element in response.every("render_fib")}
    return response.tag == "response_num" or bool(kinds & {"Decimal", "Integer"})


@dataclass(frozen=True, slots=True)
class _Praise:
    """Which feedbacks are shown for everything, for any right answer, and for any wrong one."""

    always: frozenset[str]
    right: frozenset[str]
    wrong: frozenset[str]

    @classmethod
    def of(cls, right: list[CanvasTrial], wrong: list[CanvasTrial]) -> _Praise:
        visible = [trial.visible for trial in (*right, *wrong)]
        always = frozenset.intersection(*visible) if visible else frozenset[str]()
        by_side = []
        for trials, word in ((right, "correct"), (wrong, "incorrect")):
            shared = frozenset.intersection(*[t.visible for t in trials]) if trials else frozenset[str]()
            # of one option alone only the name tells whether it speaks of the option or of the whole
            by_side.append({n for n in shared - always if len(trials) > 1 or word in n})
        return cls(always, frozenset(by_side[0]), frozenset(by_side[1]))

    def of_one(self, trial: CanvasTrial) -> list[str]:
        """Return the feedbacks that speak of one answer."""
        return sorted(trial.visible - self.always - self.right - self.wrong)


def _with_praise(question: ForeignQuestion, item: CanvasItem, praise: _Praise) -> ForeignQuestion:
    return replace(
        question,
        general=item.feedback_text(sorted(praise.always)),
        right=item.feedback_text(sorted(praise.right)),
        wrong=item.feedback_text(sorted(praise.wrong)),
    )


def _choice(question: ForeignQuestion, item: CanvasItem, *, is_own: bool) -> ForeignQuestion:
    response = item.fields[0]
    name, labels = response.attributes.get("ident", ""), labels_of(response)
    if len(labels) > _MOST_OPTIONS:
        raise UnfitError(f"it has over {_MOST_OPTIONS} options", "drop some")
    tried = {option: item.try_out({name: [option]}) for option in labels}
    is_multiple = question.type not in ("multiple_choice_question", "true_false_question")
    policy = ""
    if is_multiple:
        fractions, policy = _shares_of_several(item, name, tried, question.type)
    else:
        full = max((trial.score for trial in tried.values()), default=0.0)
        fractions = {option: as_share(trial.score, full) for option, trial in tried.items()}
    right = [trial for option, trial in tried.items() if fractions[option] > 0]
    praise = _Praise.of(right, [trial for option, trial in tried.items() if fractions[option] <= 0])
    answers = [
        ForeseenAnswer(
            material_text(label),
            fractions[option],
            item.feedback_text(praise.of_one(tried[option])),
            label.place,
        )
        for option, label in labels.items()
    ]
    shuffles = any(
        e.attributes.get("shuffle", "No").lower() == "yes" for e in response.every("render_choice")
    )
    return replace(
        _with_praise(question, item, praise),
        answers=tuple(answers),
        single=not is_multiple,
        # our own export has shuffled them once and for all
        shuffle=question.type != "true_false_question" and (is_own or shuffles),
        policy=policy,
    )


def _shares_of_several(
    item: CanvasItem, name: str, tried: dict[str, CanvasTrial], kind: str
) -> tuple[dict[str, Fraction], str]:
    """Return what each option earns where several are picked, and the rule of ours, where one is the same."""
    right: set[str] = set()
    for holder, _ in item.scoring():
        right |= {text for _, text, is_negated in compared_with(holder, name) if not is_negated}
    right &= set(tried)
    shares = {option: Fraction(1, len(right)) if option in right else Fraction(0) for option in tried}
    # all or nothing, says the file of each such question; Canvas reads only which options are right
    if kind == "multiple_answers_question":
        return shares, "net-correct"
    full = item.try_out({name: sorted(right)}).score
    alone = {option: as_share(trial.score, full) for option, trial in tried.items()}
    return (alone, "") if any(alone.values()) else (shares, "exact")


def _short_answer(question: ForeignQuestion, item: CanvasItem, *, is_own: bool) -> ForeignQuestion:
    name = item.fields[0].attributes.get("ident", "")
    # also what only shows feedback: wrong texts that the author expected
    texts = dict.fromkeys(
        text
        for c in item.conditions
        for tag, text, no in compared_with(c, name)
        if tag == "varequal" and not no
    )
    tried = {text: item.try_out({name: [text]}) for text in list(texts)[:_MOST_TEXTS]}
    other = item.try_out({name: [_NONSENSE[1]]})
    full = max((trial.score for trial in tried.values()), default=0.0)
    shares = {text: as_share(trial.score, full) for text, trial in tried.items()}
    right = [text for text, share in shares.items() if share == 1]
    # told by trying: a text with its capitals exchanged is still right where they don't matter
    is_cased = bool(right) and item.try_out({name: [right[0].swapcase()]}).score < full
    praise = _Praise.of([tried[text] for text in right], [other])
    known = [text for text, share in shares.items() if share < 1 and (share or praise.of_one(tried[text]))]
    accepted = without_spellings(right, known, is_cased, is_own=is_own)
    answers = [
        ForeseenAnswer(
            MarkedText(text.replace("*", "\\*"), TextForm.PLAIN),
            shares[text],
            item.feedback_text([*praise.of_one(tried[text]), *(praise.right if shares[text] == 1 else ())]),
            question.place,
        )
        for text in (*accepted, *known)
    ]
    question = replace(_with_praise(question, item, praise), right=NOTHING, wrong=NOTHING)
    return replace(
        own_typed_question(question) if is_own else question,
        kind=QuestionKind.TOKEN,
        answers=(*answers, *_any_other(item, praise, other)),
        case_sensitive=is_cased,
    )


def _any_other(item: CanvasItem, praise: _Praise, other: CanvasTrial) -> Iterator[ForeseenAnswer]:
    if names := other.visible - praise.always:
        star = MarkedText("*", TextForm.PLAIN)
        yield ForeseenAnswer(star, Fraction(0), item.feedback_text(sorted(names)))


def _numerical(question: ForeignQuestion, item: CanvasItem, *, is_own: bool) -> ForeignQuestion:
    response = item.fields[0]
    name = response.attributes.get("ident", "")
    numbers: dict[AcceptedNumber, CanvasTrial] = {}
    for condition in item.conditions[:_MOST_TEXTS]:
        for low, high in intervals_of(condition, name):
            middle = (low + high) / 2
            numbers[AcceptedNumber(middle, (high - low) / 2)] = item.try_out({name: [f"{middle:f}"]})
    other = item.try_out({name: [_NONSENSE[0]]})
    full = max((trial.score for trial in numbers.values()), default=0.0)
    shares = {number: as_share(trial.score, full) for number, trial in numbers.items()}
    praise = _Praise.of([numbers[n] for n, share in shares.items() if share == 1], [other])
    answers = [
        ForeseenAnswer(
            MarkedText(f"{number.value:f}", TextForm.PLAIN),
            shares[number],
            item.feedback_text([*praise.of_one(trial), *(praise.right if shares[number] == 1 else ())]),
            question.place,
            number,
        )
        for number, trial in numbers.items()
    ]
    is_whole = any(e.attributes.get("fibtype") == "Integer" for e in response.every("render_fib"))
    question = replace(_with_praise(question, item, praise), right=NOTHING, wrong=NOTHING, whole=is_whole)
    return replace(
        own_typed_question(question) if is_own else question,
        kind=QuestionKind.NUMBER,
        answers=(*answers, *_any_other(item, praise, other)),
    )


def _matching(question: ForeignQuestion, item: CanvasItem, *, is_own: bool) -> ForeignQuestion:
    targets = labels_of(item.fields[0])
    if len(targets) > _MOST_OPTIONS:
        raise UnfitError(f"it has over {_MOST_OPTIONS} right sides", "make two questions of it")
    empty = item.try_out({})
    pairs: list[tuple[XmlElement, str]] = []
    gains: list[float] = []
    for response in item.fields:
        name = response.attributes.get("ident", "")
        tried = {option: item.try_out({name: [option]}).score - empty.score for option in targets}
        best = max(tried, key=lambda option: tried[option], default="")
        pairs.append((response, best))
        gains.append(tried.get(best, 0.0))
    policy = "each-answer"
    if not any(gains):
        raise UnfitError("its pairs earn nothing one by one", "let each right pair earn its share")
    missing = next((response for (response, _), gain in zip(pairs, gains, strict=True) if gain <= 0), None)
    if missing is not None:
        raise UnfitError("a left side has no right partner", "give it one, or leave it out")
    # shares are written with two decimals: of three pairs one has 33.34 and the others 33.33
    if max(gains) - min(gains) > 0.02 * max(gains):
        question = question.noting(ImportNote("its pairs count alike here, whatever they are worth there"))
    general = replace(question, general=item.feedback_text(sorted(empty.visible)))
    texts = {name: material_text(label) for name, label in targets.items()}
    if is_own:
        return own_pairs_question(
            general, [(prompt_text(r), texts[t]) for r, t in pairs], list(texts.values())
        )
    used = {target for _, target in pairs}
    made = [MatchingPair(prompt_text(response), texts[target], response.place) for response, target in pairs]
    made += [MatchingPair(NOTHING, text, targets[n].place) for n, text in texts.items() if n not in used]
    return replace(general, kind=QuestionKind.MATCHING, pairs=tuple(made), policy=policy)


_READERS: dict[str, Callable[..., ForeignQuestion]] = {
    "multiple_choice_question": _choice,
    "true_false_question": _choice,
    "multiple_answers_question": _choice,
    _PROFILES["multiple_response"]: _choice,
    "short_answer_question": _short_answer,
    "numerical_question": _numerical,
    "matching_question": _matching,
    "fill_in_multiple_blanks_question": blanks_question,
    "multiple_dropdowns_question": blanks_question,
}
