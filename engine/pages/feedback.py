"""One student's feedback: a single HTML file that needs nothing else.

What a reader may see is decided here, once: a template gets entries from which all that a quiz's rules hide
has been taken out, so that no template can show it by mistake.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path

from engine.answers import answer_type, kind_of
from engine.answers.free_text import sample_of
from engine.errors import ResponseFormatError
from engine.marks.class_table import ColumnMark, ItemResult, ScoreChange, StudentResults, TableColumn
from engine.marks.hand_in_limits import without_hidden_checks
from engine.model import (
    Check,
    ChoiceOption,
    GradeReport,
    Mode,
    Outcome,
    Part,
    RenderedText,
    ResultDisclosure,
    Verdict,
)
from engine.pages.marker_remarks import CommentedFile, JudgedCriterion, commented_files, judged_criteria
from engine.pages.render import render
from engine.pages.weights import WeightsView, answered_weights, code_weights
from engine.quiz.rules import is_choice, shown_report
from engine.text.files import replace_text
from engine.text.words import agree, clean_line, count_noun, plain_points

MOST_RECEIPTS = 10_000  # on a page that anybody may have written: no student has so many results
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LONGEST_TITLE = 80  # signs of a step's prompt, which stands above in full


@dataclass(frozen=True, slots=True)
class PageReceipt:
    """What one entry of a page is about: the hash of what was handed in, as written into the page.

    Parameters
    ----------
    student, item : str
        As they stand on the page.
    sha256 : str
        Hash of a code file and the files that it imports, or of one answer
        (:func:`engine.store.response_sha256`).
    version : str
        Of the item that graded it.
    is_answer : bool
    """

    student: str
    item: str
    sha256: str
    version: str
    is_answer: bool

    @property
    def kind(self) -> str:
        """How the page marks it."""
        return "answer" if self.is_answer else "file"


def receipt_of(student: str, item: ItemResult) -> PageReceipt:
    """Return the receipt of one result."""
    report = item.report
    return PageReceipt(student, report.item, item.submission, report.item_version, item.variant is not None)


def read_receipts(page: str) -> list[PageReceipt]:
    """Return the receipts on a page, which anybody may have written: at most :data:`MOST_RECEIPTS`."""
    reader = _ReceiptReader()
    # The parser asserts that declarations are well-formed; what comes before a broken one counts.
    with contextlib.suppress(AssertionError):
        reader.feed(page)
    return reader.receipts


def unmatched_files(
    receipts: Sequence[PageReceipt], hashes: Mapping[str, Mapping[str | None, str]]
) -> list[tuple[str, str | None]]:
    """Return the files, and of quizzes the items, that a page isn't about.

    Parameters
    ----------
    receipts : sequence of PageReceipt
        Of the page.
    hashes : mapping of str to mapping
        File name → item → hash; of code, which may be for any item, under None.

    Returns
    -------
    list of (str, str or None)
        File and item; None where nothing in the file is on the page.
    """
    known = {receipt.sha256 for receipt in receipts}
    answered = {receipt.item for receipt in receipts if receipt.is_answer}
    unmatched: list[tuple[str, str | None]] = []
    for name, by_item in hashes.items():
        wrong = [item for item, sha256 in by_item.items() if sha256 not in known]
        # A question that the page doesn't show isn't a contradiction, if another one is there.
        contradicted = [item for item in wrong if item is None or item in answered]
        unmatched += [(name, item) for item in contradicted]
        if len(wrong) == len(by_item) and not contradicted:
            unmatched.append((name, None))
    return unmatched


class _ReceiptReader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.receipts: list[PageReceipt] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        sha256 = values.get("data-sha256", "")
        if tag != "dl" or not _SHA256.fullmatch(sha256) or len(self.receipts) >= MOST_RECEIPTS:
            return
        student, item, version = (
            clean_line(values.get(f"data-{name}", "")) for name in ("student", "item", "version")
        )
        is_answer = values.get("data-receipt") == "answer"
        self.receipts.append(PageReceipt(student, item, sha256, version, is_answer))


@dataclass(frozen=True, slots=True)
class AnsweredPair:
    """One prompt of a matching with the target that was chosen for it.

    ``is_right`` and ``right`` are None where they aren't shown (yet).
    """

    prompt: ChoiceOption
    chosen: ChoiceOption | None
    is_right: bool | None
    right: ChoiceOption | None


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """One part as answered: its options or pairs, or else the text typed, and its weights as a picture.

    ``picked`` are the options named, in the order of the answer; ``others`` those of a choice that weren't;
    ``unused`` all options where none is named. Where a person marks it, ``criteria`` are those of the rubric,
    and ``sample`` is an answer that earns full marks.
    """

    prompt: RenderedText | None
    text: str
    picked: tuple[ChoiceOption, ...]
    weights: WeightsView | None
    others: tuple[ChoiceOption, ...] = ()
    pairs: tuple[AnsweredPair, ...] = ()
    unused: tuple[ChoiceOption, ...] = ()
    criteria: tuple[JudgedCriterion, ...] = ()
    sample: RenderedText | None = None


@dataclass(frozen=True, slots=True)
class FeedbackEntry:
    """One column as its reader may see it.

    ``item`` is None where nothing was handed in; ``report`` is None where it is hidden, and then ``mark``
    says at most that the student is excused. ``provisional`` says how the checks stand that may be shown,
    where others are hidden and with them the points. ``regraded`` is what regrades changed.
    """

    column: TableColumn
    mark: ColumnMark | None
    item: ItemResult | None = None
    report: GradeReport | None = None
    answered: tuple[AnsweredPart, ...] = ()
    weights: tuple[WeightsView, ...] = ()
    with_solution: bool = False
    receipt: PageReceipt | None = None
    provisional: str = ""
    commented: tuple[CommentedFile, ...] = ()
    regraded: tuple[ScoreChange, ...] = ()

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks of the report that aren't shown beside the answer, as criteria of a rubric are."""
        criteria = {criterion.id for part in self.answered for criterion in part.criteria}
        checks = () if self.report is None else self.report.checks
        return tuple(check for check in checks if check.id.partition(".")[2] not in criteria)

    @property
    def check_titles(self) -> Mapping[str, str]:
        """What the checks of an answer are about, in place of the ids that its parts have in the item."""
        variant = None if self.item is None else self.item.variant
        if variant is None:
            return {}
        titles: dict[str, str] = {}
        for place, part in enumerate(variant.parts, start=1):
            prompt = "" if part.prompt is None else f": {clean_line(part.prompt.plain, _LONGEST_TITLE)}"
            title = "Your answer" if len(variant.parts) == 1 else f"Step {place}{prompt}"
            titles |= {part.id: title, f"{part.id}-weights": f"{title} (as weights)"}
        return titles

    @property
    def is_left_out(self) -> bool:
        """Whether it counts neither in the total nor in the full points."""
        return self.mark is not None and self.mark.is_left_out

    @property
    def is_excused(self) -> bool:
        """Whether the student has to do nothing about it."""
        return self.mark is not None and self.mark.excused

    @property
    def points(self) -> float | None:
        """The points that count; None where there are none yet, or where they are hidden."""
        if self.mark is not None:
            return self.mark.adjusted
        return None if self.report is None else self.report.score

    @property
    def needs_new_options(self) -> bool:
        """Whether an attempt is left for which other options must be drawn first."""
        if self.item is None or self.item.variant is None or self.item.is_final or not self.item.used:
            return False
        return self.item.used < (self.item.allowed or 0) and is_choice(self.item.variant)

    @property
    def is_changed(self) -> bool:
        """Whether other points count than were graded."""
        if self.mark is None or self.mark.raw is None:
            return False
        return self.mark.adjusted is None or plain_points(self.mark.raw) != plain_points(self.mark.adjusted)


@dataclass(frozen=True, slots=True)
class FeedbackTotal:
    """What counts in all, over the columns whose points may be shown."""

    points: float
    maximum: float
    columns: int
    hidden: int
    is_waiting: bool
    unreadable: float


@dataclass(frozen=True, slots=True)
class FeedbackView:
    """What one student may see of all results, for any page that shows them.

    Parameters
    ----------
    entries : tuple of FeedbackEntry
    total : FeedbackTotal
    percent : float or None
        Weighted by the course's groups; None where it would tell of results that are hidden.
    is_practice : bool
    """

    entries: tuple[FeedbackEntry, ...]
    total: FeedbackTotal
    percent: float | None
    is_practice: bool


def feedback_view(results: StudentResults, *, solutions: bool = False) -> FeedbackView:
    """Return what a student may see: quizzes as much as their rules and the course's allow now.

    Parameters
    ----------
    results : StudentResults
    solutions : bool
        Whether worked solutions (and with them keys) are shown, whatever a quiz's rules say.
    """
    entries = [feedback_entry(results.student, item, solutions=solutions) for item in results.items]
    # Columns without work come last: most readers look for what they handed in.
    entries += [FeedbackEntry(column, mark) for column, mark in results.without_work]
    total = _total(results, solutions)
    return FeedbackView(
        tuple(entries),
        total,
        # A weighted percentage would give away the results that are hidden.
        percent=None if total.hidden else results.percent,
        is_practice=any(item.report.mode is Mode.PRACTICE for item in results.items),
    )


def feedback_page(results: StudentResults, *, title: str, solutions: bool = False) -> str:
    """Return the page of one student.

    Parameters
    ----------
    results : StudentResults
    title : str
        Of the course or exercise sheet.
    solutions : bool
        As in :func:`feedback_view`.
    """
    view = feedback_view(results, solutions=solutions)
    return render("feedback.html.j2", zone=results.zone, results=results, title=title, view=view)


def _total(results: StudentResults, solutions: bool) -> FeedbackTotal:
    cells = results.row().cells
    visible = [item.column for item in results.items if solutions or item.shows_score]
    visible += [column for column, _ in results.without_work]
    counting = [column for column in visible if not cells[column.id].is_left_out]
    return FeedbackTotal(
        # Six decimals, as the store keeps points: sums of binary fractions drift beyond them.
        points=round(sum(cells[column.id].counted or 0.0 for column in counting), 6),
        maximum=sum(column.max_score for column in counting),
        columns=len(visible),
        hidden=len(cells) - len(visible),
        is_waiting=any(cells[column.id].is_waiting for column in counting),
        unreadable=sum(column.max_score for column in counting if cells[column.id].is_unreadable),
    )


def feedback_entry(student: str, item: ItemResult, *, solutions: bool = False) -> FeedbackEntry:
    """Return one result as its student may see it now."""
    if item.stand_in is not None and not solutions:
        return feedback_entry(student, item.stand_in)
    level = ResultDisclosure.SOLUTION if solutions else item.disclosure
    release = shown_report(item.report, item.variant, level, is_final=solutions or item.is_final)
    report = release.report
    hidden = frozenset() if solutions else item.hidden_checks
    if report is not None and hidden:
        report = without_hidden_checks(report, hidden, item.hidden_until)
    # Pictures of weights say which entries are right, which is feedback.
    with_weights = report is not None and level.includes(ResultDisclosure.FEEDBACK)
    if report is not None and item.mark is not None and item.mark.excused:
        report = _without_next_steps(report)
    is_graded = report is not None and report.outcome not in (Outcome.UNGRADED, Outcome.FORMAT_ERROR)
    return FeedbackEntry(
        column=item.column,
        mark=_visible_mark(item.mark, is_hidden=bool(hidden) or not level.includes(ResultDisclosure.VERDICT)),
        provisional=_provisional(report) if report is not None and hidden else "",
        item=item,
        report=report,
        answered=_answered(
            item,
            report,
            with_weights=with_weights,
            with_key=release.with_solution,
        ),
        commented=commented_files(item.source, item.modules, item.comments) if with_weights else (),
        weights=tuple(code_weights(report.weights)) if report is not None and is_graded else (),
        with_solution=release.with_solution,
        receipt=receipt_of(student, item),
        regraded=() if report is None or hidden else item.regraded,
    )


def _provisional(report: GradeReport) -> str:
    if report.outcome in (Outcome.UNGRADED, Outcome.FORMAT_ERROR):
        return ""
    passed, count = sum(check.verdict is Verdict.PASSED for check in report.checks), len(report.checks)
    return f"{passed} of {count_noun(count, 'check')} that {agree(count, 'are')} shown passed"


def _without_next_steps(report: GradeReport) -> GradeReport:
    # Whoever is excused needn't take the steps that checks ask for.
    step = re.compile(r"^[ ]*next: .*$", re.MULTILINE)
    checks = [replace(check, message=step.sub("", check.message).rstrip()) for check in report.checks]
    return replace(report, checks=tuple(checks))


def _visible_mark(mark: ColumnMark | None, *, is_hidden: bool) -> ColumnMark | None:
    if mark is None or not is_hidden:
        return mark
    # An excuse says nothing about the answer, so it is shown though the result is hidden.
    return ColumnMark(None, None, excused=True) if mark.excused else None


def _answered(
    item: ItemResult, report: GradeReport | None, *, with_weights: bool, with_key: bool
) -> tuple[AnsweredPart, ...]:
    if item.variant is None:
        return ()
    alone = len(item.variant.parts) == 1
    answered = []
    for part in item.variant.parts:
        text = item.answers.get(part.id, "").strip()
        weights = answered_weights(part, text, with_key=with_key) if with_weights else None
        picked = _picked(part, text)
        is_choice = kind_of(part.type).picks_options
        answered.append(
            AnsweredPart(
                None if alone else part.prompt,
                text,
                picked,
                weights,
                tuple(option for option in part.options if option not in picked) if is_choice else (),
                _pairs(part, text, with_verdicts=with_weights, with_key=with_key),
                () if picked or part.prompts else part.options,
                ()
                if report is None
                else judged_criteria(part, report, with_remarks=with_weights, with_texts=with_key),
                sample_of(part) if with_key and kind_of(part.type).needs_person else None,
            )
        )
    return tuple(answered)


def _pairs(part: Part, text: str, *, with_verdicts: bool, with_key: bool) -> tuple[AnsweredPair, ...]:
    """Return the pairs of a matching with their texts, so that the page says what was asked and chosen."""
    if not part.prompts:
        return ()
    try:
        chosen: Mapping[str, str] = answer_type(part.type).parse(text, part) if text else {}
    except ResponseFormatError:  # the page says so, and shows what was typed
        return ()
    options = {option.id: option for option in part.options}
    pairs = []
    for prompt, key in zip(part.prompts, part.key_ids, strict=True):
        target = chosen.get(prompt.id)
        is_right = target == key
        right = options[key] if with_key and not is_right else None
        pairs.append(
            AnsweredPair(prompt, options.get(target or ""), is_right if with_verdicts else None, right)
        )
    return tuple(pairs)


def _picked(part: Part, text: str) -> tuple[ChoiceOption, ...]:
    """Return the options that the student named, in that order; none where one isn't known."""
    if part.prompts:
        return ()
    options = {option.id.casefold(): option for option in part.options}
    words = [word for word in re.split(r"[\s,;()\[\]]+", text.casefold()) if word]
    return tuple(options[word] for word in words) if words and all(word in options for word in words) else ()


# Names that Windows keeps for devices, whatever their suffix.
_RESERVED = re.compile(r"con|prn|aux|nul|(com|lpt)\d")


def page_name(student: str) -> str:
    """Return a file name for a student's page: safe on every system, different for different ids."""
    # 60 characters are enough to recognise an id; the digest tells the rest apart.
    plain = re.sub(r"[^a-z0-9-]+", "-", student.casefold()).strip("-")[:60]
    # A readable name where it is the id itself; otherwise a digest keeps names apart.
    if plain and plain == student and not _RESERVED.fullmatch(plain):
        return f"{plain}.html"
    # Two ids that differ in case or signs alone would share a name.
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain or 'student'}_{digest}.html"


def write_page(folder: Path, results: StudentResults, *, title: str, solutions: bool = False) -> Path:
    """Write one student's feedback page into a folder, in one step, and return where it is.

    Parameters
    ----------
    folder : Path
        Must exist.
    results : StudentResults
    title : str
        The course's.
    solutions : bool
        Whether the page shows worked solutions.
    """
    path = folder / page_name(results.student)
    replace_text(path, feedback_page(results, title=title, solutions=solutions))
    return path
