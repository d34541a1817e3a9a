"""A roster that a learning system has exported: who would be new, different or gone, and writing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.course.course_files import (
    ROSTER_FILE,
    CourseFile,
    CourseFileKind,
    digest_of,
    people_refusal,
    read_course_file,
    read_course_text,
    refuse_link,
    staff_beside,
)
from engine.course.roster import Roster
from engine.course.roster_changes import (
    RosterChanges,
    changed_fields,
    changes_by,
    roster_digest,
    roster_text,
    write_roster,
)
from engine.course.students import Student, person_columns
from engine.errors import CourseError, UsageError
from engine.text.files import MAX_BYTES, folder_lock
from engine.text.tables import read_delimited
from engine.text.words import clean_line, count_noun
from engine.web.instructor.course_pages import SHOWN_DIGEST, leaving_sentences
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


def read_upload(visit: Visit) -> Response:
    """Show what an uploaded table of students would change in the roster; nothing is written."""
    uploads = visit.form.files("roster")
    if len(uploads) != 1:
        raise UsageError(
            "no file was chosen" if not uploads else "one file at a time can be read",
            expected="a CSV file with a line that names its columns, id or login among them",
            next_step="go back and choose the file that the learning system has exported",
        )
    name = clean_line(uploads[0].name.rpartition("/")[2], 100)
    reading = read_course_file(CourseFile(name, CourseFileKind.ROSTER, uploads[0].path))
    students = reading.roster.students if reading.roster is not None else ()
    return _preview(visit, name, students, reading.fault_lines, is_partial=bool(reading.faults))


def _preview(
    visit: Visit,
    name: str,
    students: Sequence[Student],
    fault_lines: Sequence[str] = (),
    *,
    is_partial: bool,
    is_outdated: bool = False,
) -> Response:
    path = visit.site.folder / ROSTER_FILE
    # Taken before the roster is read: should that change in between, nothing is written.
    digest = roster_digest(path)
    here = read_course_file(CourseFile(ROSTER_FILE, CourseFileKind.ROSTER, path))
    roster = here.roster or Roster()
    changes = changes_by(roster, students)
    text = roster_text(students)
    if len(text.encode("utf-8")) > MAX_BYTES:
        raise CourseError("these are more students than a course has", next_step="export one course")
    return visit.page(
        "instructor/roster_upload.html.j2",
        name=name,
        changes=changes,
        changed=[(after, changed_fields(before, after)) for before, after in changes.changed],
        count=len(students),
        is_outdated=is_outdated,
        text=text,
        digest=digest,
        fault_lines=fault_lines,
        is_partial=is_partial,
        roster_faults=len(here.faults),
        refusal=_refusal(visit, changes),
        leaving=leaving_sentences(visit, [student.id for student in changes.missing]),
        lost=_lost_columns(visit),
    )


def _refusal(visit: Visit, changes: RosterChanges) -> str | None:
    return people_refusal(Roster(changes.students), staff_beside(visit.site.folder))


def _lost_columns(visit: Visit) -> list[str]:
    """Return the columns of the roster that aren't known here, and that a new roster wouldn't have."""
    path = visit.site.folder / ROSTER_FILE
    rows = read_delimited(path, noun="the roster", error=CourseError).rows if path.exists() else ()
    if not rows:
        return []
    known = person_columns(rows[0].cells).values()
    return [clean_line(cell, 40) for n, cell in enumerate(rows[0].cells) if cell and n not in known]


def write_upload(visit: Visit) -> Response:
    """Write the roster as it was shown, unless it has changed since."""
    file = CourseFile(ROSTER_FILE, CourseFileKind.ROSTER, visit.site.folder / ROSTER_FILE)
    refuse_link(file)
    # Read as any roster: what comes with a form may be anything.
    sent = read_course_text(file, visit.form.text("students").encode("utf-8", "replace"))
    students = sent.roster.students if sent.roster is not None else ()
    # Whose rows couldn't be read isn't among these students, and mustn't be taken for somebody who left.
    is_partial = visit.form.text("partial") == "yes"
    if sent.faults or not students:
        raise UsageError("these aren't the students of an uploaded file", next_step="upload the file again")
    with folder_lock(visit.site.folder):
        before = roster_digest(file.path)
        if visit.form.text("digest") == before:
            changes = changes_by(visit.site.course.roster(tolerant=True), students)
            if refusal := _refusal(visit, changes):
                raise CourseError(refusal)
            write_changes(visit, changes, before, removes=not is_partial and _removes(visit))
            return visit.redirect("instructor.course")
    return _preview(visit, "the uploaded file", students, is_partial=is_partial, is_outdated=True)


def _removes(visit: Visit) -> bool:
    return visit.form.text("missing") == "remove"


def write_changes(visit: Visit, changes: RosterChanges, before: str, *, removes: bool) -> None:
    """Write what another list of the class changes in the roster, with an entry in the log and a notice.

    Parameters
    ----------
    visit : Visit
    changes : RosterChanges
    before : str
        Digest of the roster that the changes were computed from; nobody may change it meanwhile.
    removes : bool
        Whether those who aren't in the other list are taken out.
    """
    students = changes.without_missing if removes else changes.students
    counts = {
        "added": len(changes.added),
        "changed": len(changes.changed),
        "removed": len(changes.missing) if removes else 0,
    }

    def note(data: bytes) -> None:
        digests = {"before": before[:SHOWN_DIGEST], "after": digest_of(data)[:SHOWN_DIGEST]}
        visit.log("roster.write", ROSTER_FILE, counts=counts, **digests)

    folder = visit.site.folder
    old = folder / ".softmark" / "rosters"
    write_roster(folder / ROSTER_FILE, students, old=old, now=visit.now, note=note)
    visit.site.look_again()
    visit.notice(
        f"{ROSTER_FILE} is updated: {count_noun(len(students), 'student')}, {counts['added']} new, "
        f"{counts['changed']} changed, {counts['removed']} removed. The old one is in .softmark/rosters."
    )
