"""The course's own files on the site: the list of them, and the page on which one is checked and saved.

Nothing is saved that the readers of the command line refuse, nothing over a newer text of somebody else, and
nothing without an entry in the log.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from engine.course import Course
from engine.course.course_files import (
    CourseFile,
    CourseFileKind,
    EditedText,
    FileReading,
    blueprint_template,
    course_files,
    digest_of,
    find_course_file,
    load_text,
    names_of,
    new_blueprint_file,
    people_refusal,
    read_course_file,
    read_course_text,
    rule_refusals,
    save_course_file,
    staff_beside,
    staff_refusal,
)
from engine.errors import CourseError, Diagnostic, InputError
from engine.items.bank import builtin_root
from engine.marks.check import facts_of, find_contradictions
from engine.quiz.choose import plan_faults
from engine.text.words import clean_line, count_noun
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_MOST_FAULTS = 10  # of a file in the list; its own page has all
SHOWN_DIGEST = 16  # characters: enough to compare with sha256sum
_KINDS = {
    CourseFileKind.ROSTER: "the students",
    CourseFileKind.STAFF: "who marks and who runs the course",
    CourseFileKind.SETTINGS: "title, time zone, deadlines and all rules about marks",
    CourseFileKind.BLUEPRINT: "what a quiz asks",
}


@dataclass(frozen=True, slots=True)
class CourseFileLine:
    """A file in the list: what is in it, or its faults with their lines."""

    name: str
    purpose: str
    content: str
    changed_at: datetime | None
    faults: int
    fault_lines: tuple[str, ...]


def files_page(visit: Visit) -> Response:
    """List the files with the state of each."""
    return visit.page(
        "instructor/course_files.html.j2",
        lines=[_line(file) for file in course_files(visit.site.folder)],
        **_circumstances(visit),
    )


def _line(file: CourseFile) -> CourseFileLine:
    reading = read_course_file(file)
    return CourseFileLine(
        file.name,
        _KINDS[file.kind],
        _content(reading),
        file.changed_at,
        len(reading.faults),
        tuple(line for fault in reading.faults[:_MOST_FAULTS] for line in fault.lines()),
    )


def _content(reading: FileReading) -> str:
    if reading.roster is not None:
        return count_noun(len(reading.roster.students), "student")
    if reading.staff is not None:
        return count_noun(len(reading.staff), "person")
    if reading.settings is not None:
        return reading.settings.title
    return reading.plan.blueprint.title if reading.plan is not None else ""


def _circumstances(visit: Visit) -> dict[str, bool]:
    """Return what an instructor must know of the machine on which the files are."""
    site = visit.site
    return {
        # A store that others can reach may be served by other machines too, each with its own folder.
        "is_one_of_many": "://" in str(site.course.store_place),
        "is_writable": os.access(site.folder, os.W_OK),
    }


@dataclass(frozen=True)
class FileDraft:
    """A text that somebody has typed for a file, and what speaks against saving it.

    Parameters
    ----------
    file : CourseFile
    edited : EditedText
        What the file holds.
    text : str
        What was typed.
    data : bytes
        The same as the file would hold it.
    reading : FileReading
    refusals : tuple of str
        Faults that aren't those of a line.
    is_outdated : bool
        Whether the file was changed after its text was loaded for this draft.
    leaving : tuple of str
        Ids of students who would no longer be in the roster.
    """

    file: CourseFile
    edited: EditedText
    text: str
    data: bytes = b""
    reading: FileReading = field(default_factory=FileReading)
    refusals: tuple[str, ...] = ()
    is_outdated: bool = False
    leaving: tuple[str, ...] = ()

    @property
    def is_acceptable(self) -> bool:
        """Whether nothing keeps it from being saved."""
        return not (self.refusals or self.reading.faults or self.is_outdated)


def file_page(visit: Visit) -> Response:
    """Show a file to be edited; on a POST, check what was typed, or save it."""
    file = find_course_file(visit.site.folder, visit.path["file"])
    if file is None:
        raise NotFoundError("the course has no such file that can be edited here")
    edited = load_text(file)
    if visit.method == "POST":
        return _answer(visit, _draft(visit, file, edited, visit.form.text("digest")))
    is_checked = visit.query.get("checked") == "1"
    reading = read_course_file(file) if file.path.exists() else FileReading()
    # To find contradictions of rules all their quizzes are looked at: not for everybody who opens the page.
    if file.path.exists() and (is_checked or file.kind is not CourseFileKind.SETTINGS):
        reading = _with_warnings(visit, file, reading, edited.text.encode("utf-8"))
    draft = FileDraft(file, edited, edited.text, reading=reading)
    return _draft_page(visit, draft, is_checked=is_checked)


def new_page(visit: Visit) -> Response:
    """Show a blueprint to begin with; on a POST, check what was made of it, or save it under its name."""
    folder, nothing = visit.site.folder, EditedText("", digest_of(b""))
    draft = FileDraft(new_blueprint_file(folder, "new"), nothing, blueprint_template())
    if visit.method != "POST":
        return _draft_page(visit, draft)
    draft = replace(draft, text=visit.form.text("text"))
    try:
        file = new_blueprint_file(folder, visit.form.text("name"))
    except CourseError as error:
        draft = replace(draft, refusals=(f"{error.what}; expected: {error.expected}",))
        return _draft_page(visit, draft, is_checked=True, status=400)
    if file.path.exists():
        refusal = f"there is a blueprint {file.path.stem} already: edit that one, or choose another name"
        return _draft_page(visit, replace(draft, refusals=(refusal,)), is_checked=True, status=409)
    return _answer(visit, _draft(visit, file, nothing, nothing.digest))


def _draft(visit: Visit, file: CourseFile, edited: EditedText, loaded: str) -> FileDraft:
    """Return what was typed, with everything that speaks against saving it."""
    draft = FileDraft(file, edited, visit.form.text("text"), is_outdated=loaded != edited.digest)
    try:
        data = edited.bytes_of(draft.text)
    except CourseError as error:
        return replace(draft, refusals=(f"{error.what}: {error.got or error.expected}",))
    before = read_course_file(file) if file.path.exists() else FileReading()
    reading = read_course_text(file, data)
    if before.roster is not None and reading.roster is not None:
        gone = tuple(student for student in before.roster.by_id if student not in reading.roster.by_id)
        draft = replace(draft, leaving=gone)
    if file.kind is CourseFileKind.SETTINGS and reading.settings is not None:
        # Where the file can't be read, the site goes on with what it read last: that must stay, too.
        old = before.settings or visit.site.course.settings
        more = rule_refusals(old, reading.settings, data.decode("utf-8-sig"))
        reading = replace(reading, faults=(*more, *reading.faults))
    refusals = tuple(_refusals(visit, before, reading))
    return replace(draft, data=data, reading=_with_warnings(visit, file, reading, data), refusals=refusals)


def _refusals(visit: Visit, before: FileReading, after: FileReading) -> Iterator[str]:
    """Yield what speaks against a roster or a list of the staff that is no fault of one of its lines."""
    if after.staff is not None:
        # Where the file has faults, those count whom the site knows from before.
        staff = before.staff if before.staff is not None else visit.site.people.instructors
        roster = visit.site.course.roster(tolerant=True)
        refusals = (staff_refusal(staff, after.staff, visit.me.id), people_refusal(roster, after.staff))
    elif after.roster is not None:
        refusals = (None, people_refusal(after.roster, staff_beside(visit.site.folder)))
    else:
        return
    yield from filter(None, refusals)


def _with_warnings(visit: Visit, file: CourseFile, reading: FileReading, data: bytes) -> FileReading:
    """Return a reading with warnings of what doesn't fit the course's quizzes, people and items."""
    site, more = visit.site, list[Diagnostic]()
    if reading.settings is not None and not reading.faults:
        course = Course(site.folder, reading.settings)
        facts = facts_of(course, site.store, site.bank)
        more += find_contradictions(data, course.policies, facts)
    if reading.plan is not None and (document := reading.plan.document) is not None:
        try:
            faults = plan_faults(reading.plan, site.bank, site.bank.summaries()[0])
            more += [document.diagnostic(loc, words) for loc, words in faults]
        except InputError as error:  # an item that it names has faults of its own
            more.append(Diagnostic(file.name, 1, 1, f"{error.where}: {error.what}"))
        if (builtin_root() / "blueprints" / file.path.name).exists():
            words = "a built-in blueprint has this name: this one takes its place"
            more.append(Diagnostic(file.name, 1, 1, words))
    return reading.with_warnings([replace(warning, file=file.name) for warning in more])


def _answer(visit: Visit, draft: FileDraft) -> Response:
    """Save a draft if that is asked for and nothing speaks against it; otherwise show it again."""
    is_check = visit.form.text("do") == "check"
    # Whoever takes students out is told whom, and sends the same text once more.
    is_agreed = not draft.leaving or visit.form.text("agreed") == digest_of(draft.data)
    if not is_check and draft.is_acceptable and is_agreed:
        if _save(visit, draft):
            return visit.redirect("instructor.course.file", file=draft.file.name, checked="1")
        # Somebody else was faster by a moment.
        draft = replace(draft, edited=load_text(draft.file), is_outdated=True)
    status = 200 if is_check or draft.is_acceptable else 409 if draft.is_outdated else 400
    return _draft_page(visit, draft, is_checked=True, status=status)


def _save(visit: Visit, draft: FileDraft) -> bool:
    file, before = draft.file, draft.edited.digest
    is_new = not file.path.exists()
    if digest_of(draft.data) == before and not is_new:
        visit.notice(f"{file.name} is unchanged: the text was the same.")
        return True

    def note(after: str) -> None:
        digests = {"before": "" if is_new else before[:SHOWN_DIGEST], "after": after[:SHOWN_DIGEST]}
        visit.log("file.save", file.name, **digests)

    if not save_course_file(file, draft.data, before, note, makes_folder=is_new):
        return False
    visit.site.look_again()
    is_table = file.kind in (CourseFileKind.ROSTER, CourseFileKind.STAFF)
    content = _content(draft.reading) if is_table else ""
    visit.notice(f"{file.name} is saved{f': {content}' if content else ''}.")
    return True


def _draft_page(visit: Visit, draft: FileDraft, *, is_checked: bool = False, status: int = 200) -> Response:
    """Show a draft with its faults; `is_checked` says that it was looked at since somebody changed it."""
    return visit.page(
        "instructor/course_file.html.j2",
        status=status,
        draft=draft,
        file=draft.file,
        is_new=visit.route == "instructor.course.new",
        is_checked=is_checked,
        purpose=_KINDS[draft.file.kind],
        leaving=leaving_sentences(visit, draft.leaving),
        agreed=digest_of(draft.data) if draft.leaving else "",
        changed_by=_changed_by(visit, draft) if draft.is_outdated else "",
        **_circumstances(visit),
    )


def leaving_sentences(visit: Visit, leaving: Collection[str]) -> list[str]:
    """Return sentences about students who would be taken out of the roster; none where there are none."""
    if not leaving:
        return []
    roster, gone = visit.site.course.roster(tolerant=True), set(leaving)
    with_work = [student for student in visit.site.store.students(visit.site.mode) if student in gone]
    count = len(leaving)
    sentences = [
        f"{count_noun(count, 'student')} would be removed from the roster and could no longer sign in: "
        f"{names_of(leaving, roster)}."
    ]
    if with_work:
        sentences.append(
            f"Work was handed in by {names_of(with_work, roster)}. It stays in the store, with its marks."
        )
    return sentences


def _changed_by(visit: Visit, draft: FileDraft) -> str:
    """Return who made the file what it is now, where that was done on the site."""
    for _, entry in visit.site.store.audit.newest(50, action="file.save"):
        if entry.subject == draft.file.name:
            is_this = draft.edited.digest.startswith(str(entry.details.get("after", "")))
            known = visit.site.people.by_id.get(entry.by)
            return clean_line(known.name if known and known.name else entry.by) if is_this else ""
    return ""
