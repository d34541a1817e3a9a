"""What the pages for staff share: whom they name and how, lists that are sorted and paged, and jobs."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from engine.course.people import Role
from engine.errors import SoftmarkError, UsageError
from engine.text.words import clean_line
from engine.web.forms import whole_number
from engine.web.jobs import JobState, SiteJob
from engine.web.security import file_policy
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

T = TypeVar("T")
PAGE = 50  # lines of a long list on one page


class StudentNames:
    """How a page names students, and which of them an address means.

    Where the course marks blind, a marker sees a code in place of name and id: always the same one, so that
    several answers of one person belong together, and nobody's who hasn't the course's secret.

    Parameters
    ----------
    visit : Visit
    hidden : bool
        Hide names from everybody, also from instructors: for pages on which answers are marked.
    """

    def __init__(self, visit: Visit, *, hidden: bool = False) -> None:
        self.is_hidden = hidden or (visit.site.settings.blind_marking and not visit.may(Role.INSTRUCTOR))
        self._site = visit.site
        self._roster = visit.site.state.roster.by_id
        self._secret = visit.site.course.secret() if self.is_hidden else b""

    def name(self, student: str) -> str:
        """Return a name, or the id where the roster has none."""
        if self.is_hidden:
            return f"Student {self.handle(student)}"
        known = self._roster.get(student)
        return clean_line(known.name if known is not None and known.name else student)

    def id(self, student: str) -> str:
        """Return the id where it says more than the name; empty where it is hidden."""
        return "" if self.is_hidden or self.name(student) == student else clean_line(student)

    def handle(self, student: str) -> str:
        """Return what stands for a student in an address."""
        if not self.is_hidden:
            return student
        return hmac.new(self._secret, f"blind {student}".encode(), hashlib.sha256).hexdigest()[:8]

    def student(self, handle: str) -> str:
        """Return the student whom an address means; a :class:`NotFoundError` where it is nobody."""
        everybody = self.everybody()
        if not self.is_hidden:
            if handle in everybody:
                return handle
        else:
            # Compared in constant time, and all of them: an address mustn't say how near a guess was.
            for student in everybody:
                if hmac.compare_digest(self.handle(student), handle):
                    return student
        raise NotFoundError("there is no such student")

    def everybody(self) -> list[str]:
        """Return the ids of the roster, and of everybody else with work in the store."""
        # Whoever was graded without a line in the roster is a student too.
        others = set(self._site.store.students(self._site.mode)) - set(self._roster)
        return [*self._roster, *sorted(others)]

    @contextmanager
    def in_errors(self, student: str) -> Iterator[None]:
        """Take the id and the name out of errors about a student, where these are hidden."""
        try:
            yield
        except SoftmarkError as error:
            for part in ("what", "where", "expected", "got", "next_step"):
                words = getattr(error, part)
                setattr(error, part, words and self.text(words, student))
            raise

    def text(self, words: str, student: str) -> str:
        """Return a text about a student without the id and the name, where these are hidden."""
        if not self.is_hidden:
            return words
        known = self._roster.get(student)
        for name in (known.name if known else "", student):
            words = words.replace(name, "…") if name else words
        return words


def choice(visit: Visit, field: str, known: Sequence[str], default: str) -> str:
    """Return a word of the query, the default where it isn't one of those known."""
    value = visit.query.get(field, default)
    return value if value in known else default


def number_of(text: str, what: str) -> float:
    """Return a number that somebody typed, with a point or a comma.

    Raises
    ------
    UsageError
        It is no number.
    """
    try:
        return float(text.strip().replace(",", "."))
    except ValueError:
        raise UsageError(
            f"{what} isn't a number", expected="a number such as 7.5", got=clean_line(text, 40)
        ) from None


@dataclass(frozen=True, slots=True)
class ListPage:
    """A part of a long list, and where it goes on."""

    entries: Sequence[Any]
    number: int
    pages: int
    total: int


def page_of(entries: Sequence[T], visit: Visit, size: int = PAGE) -> ListPage:
    """Return the page of a list that the query asks for; beyond its end, the last one."""
    # A list may have become shorter since the link was made.
    pages = max(1, -(-len(entries) // size))
    number = min(max(whole_number(visit.query.get("page", ""), 1), 1), pages)
    return ListPage(entries[(number - 1) * size : number * size], number, pages, len(entries))


def with_query(visit: Visit, route: str | None = None, /, **changes: Any) -> str:
    """Return this page's address with some values of its query changed; None takes one out.

    A page that a form's address shows again, because the form is refused, names its own route.
    """
    values = {**visit.query, **changes}
    here = {**visit.path, **{k: v for k, v in values.items() if v is not None}}
    return visit.url(route or visit.route, **here)


def start_job(
    visit: Visit, kind: str, title: str, work: Callable[[SiteJob], Any], facts: Mapping[str, Any], route: str
) -> Response:
    """Start a job, and go to the page that shows it and afterwards its result."""
    # The log links from a job to its result.
    facts = {**facts, "page": route}
    job = visit.site.jobs.start(kind, title, visit.me.name or visit.me.id, work, facts)
    return visit.redirect(route, job=job.id)


def job_of(visit: Visit, kind: str) -> SiteJob:
    """Return the job that an address names; a :class:`NotFoundError` says how to get another one."""
    job = visit.site.jobs.find(visit.path["job"], kind)
    if job is None:
        raise NotFoundError("this is gone: the server was restarted, or newer results replaced it")
    return job


def progress_page(visit: Visit, job: SiteJob) -> Response:
    """Return the page of a job that has no result (yet): its progress, or why it ended."""
    # As it is now: its thread goes on while the page is made.
    job = copy(job)
    if job.state is JobState.DONE:  # since it was looked at
        return visit.redirect(visit.route, **visit.path)
    return visit.page("instructor/job.html.j2", job=job)


def standalone(page: str) -> Response:
    """Return a page that needs nothing beside itself, as the commands write it into a file."""
    from starlette.responses import HTMLResponse

    return HTMLResponse(page, headers={"Content-Security-Policy": file_policy(page)})


def download(content: bytes, name: str, media_type: str) -> Response:
    """Return a file to save; its name is ours and plain."""
    from starlette.responses import Response

    return Response(
        content,
        media_type=media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def show_job(visit: Visit) -> Response:
    """Say how far a job is, for the site's script."""
    job = visit.site.jobs.find(visit.path["job"])
    if job is None:
        raise NotFoundError()
    return visit.json(job.as_json())


def stop_job(visit: Visit) -> Response:
    """Stop a job at its next step."""
    job = visit.site.jobs.find(visit.path["job"])
    if job is None:
        raise NotFoundError()
    job.stop()
    visit.log("job.stop", job.title)
    if job.state is JobState.RUNNING:
        visit.notice(f"Stopping: {job.title}.")
    return visit.redirect("instructor.log")
