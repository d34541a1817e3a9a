"""Places of scanned answer sheets that a person decides: a list with pictures, and one place at a time.

What can be decided, and what becomes of it, is said by :mod:`engine.scanning`, as for ``grade scan``. A place
is looked up again when its decision is sent: if somebody else has decided it since the page was opened,
nothing is written and the marker is told.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.course.people import Role
from engine.errors import UsageError
from engine.text.words import clean_line
from engine.web.forms import whole_number
from engine.web.instructor.person_fields import known_students, student_named
from engine.web.instructor.staff import StudentNames, page_of, with_query
from engine.web.visit import ForbiddenError, NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.model import Part, RenderedText
    from engine.scanning.exam_scans import ExamScans
    from engine.scanning.open_places import PlaceToDecide
    from engine.scanning.sheet_hand_ins import HandedSheet, ScannedCourse
    from engine.store.scans import ScanDecision

_PAGE = 20  # places of a list: each has a picture
_SHORT = 300  # characters of a question that remind a marker of it
# What stands in an address for places that aren't about an item: whose a copy is, or whether it counts.
_NO_ITEM = "-"


def _scanned_course(visit: Visit) -> ScannedCourse:
    from engine.paper.print_record import PrintedExams
    from engine.scanning.sheet_hand_ins import ScannedCourse

    site = visit.site
    return ScannedCourse(site.store, PrintedExams(site.folder), site.state.roster, site.mode)


@dataclass(frozen=True)
class _ScanFilter:
    """Which places a marker wants to see: of one print, about one item; empty for all."""

    exam: str
    item: str

    @classmethod
    def of(cls, visit: Visit) -> _ScanFilter:
        return cls(visit.query.get("print", ""), visit.query.get("item", ""))

    def takes(self, exam: str, item: str) -> bool:
        return self.exam in ("", exam) and self.item in ("", item or _NO_ITEM)

    @property
    def query(self) -> dict[str, str | None]:
        return {"print": self.exam or None, "item": self.item or None}


@dataclass(frozen=True)
class _ScanList:
    """The places of all prints in order, and those that a filter takes."""

    scans: Mapping[str, ExamScans]
    everything: Sequence[PlaceToDecide]
    only: _ScanFilter
    done: int
    """How many places were decided whose copies are handed in."""

    @property
    def places(self) -> list[PlaceToDecide]:
        return [place for place in self.everything if self.only.takes(place.exam, place.item)]

    @property
    def waiting(self) -> list[PlaceToDecide]:
        return [place for place in self.places if place.reason is not None]

    @property
    def decided(self) -> list[PlaceToDecide]:
        return [place for place in self.places if place.reason is None]

    @property
    def total(self) -> int:
        return len(self.places) + self.done


def _scan_list(course: ScannedCourse, only: _ScanFilter) -> _ScanList:
    from engine.scanning.open_places import places_of

    scans: dict[str, ExamScans] = {}
    places: list[PlaceToDecide] = []
    done = 0
    for exam in course.scanned_exams():
        scans[exam] = waiting = course.waiting(exam)
        here = [place for copy in waiting.copies for place in places_of(waiting, copy)]
        places += here
        undone = {(place.copy, place.field) for place in here}
        done += sum(
            place not in undone and only.takes(exam, waiting.item_of(*place)) for place in waiting.decided
        )
    return _ScanList(scans, places, only, done)


def scans_page(visit: Visit) -> Response:
    """List the places that wait for a decision, or those that were decided and can be undone."""
    course = _scanned_course(visit)
    scan_list = _scan_list(course, _ScanFilter.of(visit))
    shows_decided = visit.query.get("show") == "decided"
    places = page_of(scan_list.decided if shows_decided else scan_list.waiting, visit, _PAGE)
    return visit.page(
        "instructor/scans.html.j2",
        scan_list=scan_list,
        items=_items(visit, scan_list),
        shows_decided=shows_decided,
        places=places,
        views=[_view(visit, course, place) for place in places.entries],
        with_query=lambda **changes: with_query(visit, **changes),
    )


def _items(visit: Visit, scan_list: _ScanList) -> list[tuple[str, str]]:
    items = sorted({place.item for place in scan_list.everything if place.item})
    named = [(item, visit.site.bank.title_of(item)) for item in items]
    has_others = any(not place.item for place in scan_list.everything)
    return [*named, *([(_NO_ITEM, "Whose a sheet is, and whether it counts")] if has_others else [])]


@dataclass(frozen=True)
class _PlaceView:
    """What a page shows of a place beside the place itself."""

    whose: str
    question: str
    title: str
    part: Part | None
    seen: str
    is_mine: bool

    def option_text(self, letter: str) -> RenderedText | None:
        """Return what an option says."""
        options = self.part.options if self.part is not None else ()
        return next((option.text for option in options if option.id == letter), None)

    def row_text(self, row: str) -> RenderedText | None:
        """Return what stands on the left side of a matching."""
        prompts = self.part.prompts if self.part is not None else ()
        return next((prompt.text for prompt in prompts if prompt.id == row), None)


def _view(visit: Visit, course: ScannedCourse, place: PlaceToDecide) -> _PlaceView:
    student, question = place.scanned.student, place.question
    variant = part = None
    if question is not None and question.number:
        variant, part = course.question(place.scanned, question)
    prompt = part.prompt.plain if part is not None and part.prompt is not None else ""
    return _PlaceView(
        StudentNames(visit).name(student) if student else "",
        clean_line(f"{variant.stem.plain} {prompt}", _SHORT) if variant is not None else "",
        variant.title if variant is not None else "",
        part,
        _seen(place.decision),
        student is not None and visit.is_own_work(student),
    )


def _seen(decision: ScanDecision | None) -> str:
    """Return which decision somebody has seen."""
    return "" if decision is None else f"{decision.by} {decision.at.isoformat()}"


def next_place(visit: Visit) -> Response:
    """Go to the next place that waits; markers begin at different ones."""
    scan_list = _scan_list(_scanned_course(visit), _ScanFilter.of(visit))
    waiting = [p for p in scan_list.waiting if not visit.is_own_work(p.scanned.student or "")]
    if not waiting:
        visit.notice(
            "The places that still wait are on your own sheet: another marker has to decide them."
            if scan_list.waiting
            else "Nothing waits for a decision."
        )
        return visit.redirect("instructor.scans", **scan_list.only.query)
    exam, _, name = visit.query.get("after", "").partition("/")
    if exam:
        # The copy of the place before may be handed in by now: then the order of prints and copies leads on.
        order = {(place.exam, place.id): n for n, place in enumerate(scan_list.everything)}
        copy = whole_number(name.partition("/")[0])
        before = sum((p.exam, p.copy) <= (exam, copy) for p in scan_list.everything) - 1
        passed = order.get((exam, name), before)
        place = next((p for p in waiting if order[p.exam, p.id] > passed), waiting[0])
    else:
        # Two markers who both take the first place would do half the work twice.
        place = waiting[int.from_bytes(hashlib.sha256(visit.me.id.encode()).digest()[:4]) % len(waiting)]
    return visit.redirect("instructor.scans.place", exam=place.exam, place=place.id, **scan_list.only.query)


def _copy_and_field(visit: Visit) -> tuple[int, str]:
    number, _, field = visit.path["place"].partition("/")
    return whole_number(number), field


def _place(scans: ExamScans, visit: Visit) -> PlaceToDecide:
    from engine.scanning.open_places import places_of

    places = (place for copy in scans.copies for place in places_of(scans, copy))
    place = next((place for place in places if place.id == visit.path["place"]), None)
    if place is None:
        raise NotFoundError("there is no such place, or its sheet is handed in already")
    return place


def _scans_about(visit: Visit, course: ScannedCourse) -> ExamScans:
    """Return the scans of the copy that an address names, with those that have to do with it."""
    # What an address says is looked up among the prints that are there, and never becomes a path.
    if visit.path["exam"] not in course.scanned_exams():
        raise NotFoundError("there is no such print, or no sheet of it was scanned")
    return course.waiting(visit.path["exam"], about=_copy_and_field(visit)[0])


def place_page(visit: Visit) -> Response:
    """Show one place: its picture, what it was read as and why that isn't certain, and what it can be."""
    from engine.scanning.open_places import picks_of

    course = _scanned_course(visit)
    place = _place(_scans_about(visit, course), visit)
    return visit.page(
        "instructor/scan_place.html.j2",
        place=place,
        view=_view(visit, course, place),
        scan_list=_scan_list(course, _ScanFilter.of(visit)),
        picks=picks_of(place),
        people=known_students(visit) if visit.may(Role.INSTRUCTOR) else [],
    )


def place_picture(visit: Visit) -> Response:
    """Return a picture of a place, as it was cut out of the scan and stored."""
    from starlette.responses import Response

    place = _place(_scans_about(visit, _scanned_course(visit)), visit)
    number = whole_number(visit.path["number"])
    if not 0 < number <= len(place.pictures):
        raise NotFoundError("there is no such picture")
    try:
        content = base64.b64decode(place.pictures[number - 1], validate=True)
    except binascii.Error:
        content = b""
    # A browser must never take what somebody put into the store for anything else.
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        raise NotFoundError("this picture can't be shown")
    return Response(content, media_type="image/png")


def decide_place(visit: Visit) -> Response:
    """Store a decision, hand in the copy if nothing else of it is open, and go on to the next place."""
    from engine.scanning.open_places import OpenPlace

    course, exam = _scanned_course(visit), visit.path["exam"]
    copy, field = _copy_and_field(visit)
    with visit.site.store.one_transaction():
        place = _place_as_seen(visit, course)
        chosen = OpenPlace(exam, copy, field, _decided_text(visit, place))
        by = visit.me.name or visit.me.id
        decision = course.checked(chosen, _scans_about(visit, course), by=by, at=visit.now)
        visit.site.store.scans.decide(decision)
        visit.log("scan.decide", decision.subject, student=decision.student, text=decision.text[:200])
        sheets = course.hand_in_after(decision, now=visit.now)
        for sheet in sheets:
            if sheet.is_new:
                visit.log("scan.hand_in", sheet.subject(exam), student=sheet.copy.student)
    for sheet in sheets:
        if sentence := _outcome(sheet):
            visit.notice(sentence)
    only = _ScanFilter.of(visit)
    if visit.form.text("action") == "list":
        return visit.redirect("instructor.scans", **only.query)
    return visit.redirect("instructor.scans.next", after=f"{exam}/{copy}/{field}", **only.query)


def _place_as_seen(visit: Visit, course: ScannedCourse) -> PlaceToDecide:
    """Return the place of a form, unless it was decided otherwise since its page was opened."""
    exam, (copy, field) = visit.path["exam"], _copy_and_field(visit)
    # From here on nobody else decides about the copy until this transaction ends.
    visit.site.store.scans.hold(exam, copy)
    newest = course.newest_decision(exam, copy, field)
    if visit.form.text("seen") != _seen(newest):
        text = "" if newest is None else newest.text or "left empty"
        raise UsageError(
            "somebody else has decided this place since you opened it; nothing of yours was stored",
            got="the decision was undone"
            if newest is None
            else f"{clean_line(text, 60)}, by {clean_line(newest.by)} at {visit.site.local_time(newest.at)}",
            next_step="go back and reload the page; until its sheet is handed in, the decision can be undone",
        )
    place = _place(_scans_about(visit, course), visit)
    visit.refuse_own_work(place.scanned.student or "")
    return place


def _decided_text(visit: Visit, place: PlaceToDecide) -> str:
    """Return what a form decides, in the words that the command takes."""
    from engine.scanning.exam_scans import STUDENT_FIELD
    from engine.scanning.open_places import BLANK, picked_text, picks_of

    form, question = visit.form, place.question
    if place.field == STUDENT_FIELD:
        if not visit.may(Role.INSTRUCTOR):
            raise ForbiddenError("whose a sheet is, an instructor decides")
        return student_named(visit, form.text("answer"))
    picks = picks_of(place)
    if question is not None and picks is not None:
        rows = [form.texts(f"row.{number}") for number in range(len(picks))]
        try:
            return picked_text(question, rows)
        except ValueError as error:
            raise UsageError(str(error)) from error
    text = form.text("answer").strip()
    if form.text("blank") == "yes":
        # What it was read as stands in the field from the start: only what was typed contradicts the tick.
        if text not in ("", place.guess):
            raise UsageError("write the answer, or tick that it was left empty, and not both")
        return BLANK
    if not text:
        raise UsageError("write the answer, or tick that it was left empty")
    return text


def _outcome(sheet: HandedSheet) -> str:
    number = sheet.copy.copy.number
    if sheet.is_new:
        return f"Nothing else of copy {number} is open: it is handed in and marked."
    return f"Copy {number} isn't handed in yet: {sheet.reason}." if sheet.reason else ""


def undo_decision(visit: Visit) -> Response:
    """Take a decision back, so that its place is open again; only while its sheet isn't handed in."""
    course = _scanned_course(visit)
    with visit.site.store.one_transaction():
        place = _place_as_seen(visit, course)
        undone = course.undone(place, by=visit.me.name or visit.me.id, at=visit.now)
        visit.site.store.scans.decide(undone)
        visit.log("scan.undo", undone.subject, student=undone.student)
    visit.notice("The decision is undone: the place waits again.")
    return visit.redirect(
        "instructor.scans.place", exam=place.exam, place=place.id, **_ScanFilter.of(visit).query
    )
