"""The use case of ``grade import``: from a file of another system to problem files and a report."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from engine.authoring.importing.canvas_qti import read_canvas
from engine.authoring.importing.foreign_question import (
    QuestionFile,
    SkippedQuestion,
    SourceText,
    detect_format,
    read_source,
)
from engine.authoring.importing.gift import read_gift
from engine.authoring.importing.item_drafts import ImportReport, ItemDraft, prepare, to_spec, write_all
from engine.authoring.importing.moodle_xml import read_moodle
from engine.authoring.importing.olx_course import COURSE_FILES, read_course, read_olx
from engine.authoring.importing.package_entries import Watch, is_package, open_entries
from engine.authoring.importing.qti3 import read_qti3
from engine.authoring.importing.qti_package import MANIFEST, read_package
from engine.authoring.importing.question_texts import UnfitError
from engine.errors import ExchangeError
from engine.items.bank import Bank
from engine.text.words import clean_line

READERS: dict[str, Callable[[SourceText], QuestionFile]] = {
    "moodle": read_moodle,
    "gift": read_gift,
    "qti3": read_qti3,
    "qti21": read_qti3,
    "canvas": read_canvas,
    "olx": read_olx,
}
# these are never packages: an archive of that name is something else
_FILES_ONLY = ("moodle", "gift")


def import_file(
    path: Path,
    folder: Path,
    bank: Bank,
    *,
    form: str | None = None,
    keep_going: bool = False,
    watch: Watch = lambda total: nullcontext(lambda: None),
) -> ImportReport:
    """Read a file and write its questions as problem files.

    Parameters
    ----------
    path : Path
    folder : Path
        Where the problem files go; made if it isn't there.
    bank : Bank
        Its ids are taken.
    form : str, optional
        A name of :data:`READERS`; detected if left out.
    keep_going : bool
        Import what can be read of a broken file.
    watch : callable, optional
        Shows the progress of reading a package, and of the trial: each question is drawn and linted before
        anything is written.

    Raises
    ------
    ExchangeError
        The file is broken (the error holds every fault) or has no question, or the folder can't be written.
    """
    if form not in _FILES_ONLY and is_package(path):
        form, contents = read_packed(path, form, watch)
        source = SourceText(clean_line(str(path), 300), "")
    else:
        source = read_source(path)
        form = detect_format(source, form)
        contents = READERS[form](source)
    # a broken file is refused as a whole: an author fixes it once, and imports no question twice
    if contents.faults and not (keep_going and (contents.questions or contents.skipped)):
        raise ExchangeError.of_file(contents.faults)
    if not (contents.questions or contents.skipped):
        raise ExchangeError("the file holds no question", where=source.file, expected=f"{form} questions")
    drafts, skipped = _drafts(contents, clean_line(path.name, 120))
    with watch(len(drafts)) as advance:
        prepared, failed = prepare(drafts, folder, bank, advance)
    write_all(prepared, folder)
    # in the order of the file, whoever skipped them: the reader, the conversion or the trial
    skips = sorted([*contents.skipped, *skipped, *failed], key=lambda s: (s.place.line, s.place.column))
    return ImportReport(
        source.file,
        form,
        source.encoding,
        source.guessed,
        tuple(entry.item for entry in prepared),
        tuple(skips),
        contents.faults,
    )


def read_packed(
    path: Path, form: str | None = None, watch: Watch = lambda total: nullcontext(lambda: None)
) -> tuple[str, QuestionFile]:
    """Return the format of a package, a course or a folder, and what it holds.

    Parameters
    ----------
    path : Path
    form : str, optional
        ``"olx"`` or a version of QTI; by what lies in it if left out.
    watch : callable, optional
        Shows the progress.

    Raises
    ------
    ExchangeError
        It is damaged or a bomb, or holds neither a manifest nor a course.
    """
    with open_entries(path) as entries:
        is_course = not entries.nearest(MANIFEST) and any(map(entries.nearest, COURSE_FILES))
        if form == "olx" or (form is None and is_course):
            return "olx", read_course(entries, watch)
        return read_package(entries, watch)


def _drafts(contents: QuestionFile, file: str) -> tuple[list[ItemDraft], list[SkippedQuestion]]:
    drafts: list[ItemDraft] = []
    skipped: list[SkippedQuestion] = []
    for question in contents.questions:
        try:
            drafts.append(to_spec(question, file))
        except UnfitError as problem:
            skip = SkippedQuestion(
                question.name, question.type, question.place, problem.reason, problem.next_step
            )
            skipped.append(skip)
    return drafts, skipped
