"""Who did what when, and the long work that was started: two lists, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.web.instructor.staff import PAGE, StudentNames, whole_number, with_query
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response


def log_page(visit: Visit) -> Response:
    """Show the log of decisions with its filters, and the jobs that are known."""
    log = visit.site.store.audit
    before = whole_number(visit.query.get("before", "")) or None
    filters = {
        name: visit.query[name].strip() for name in ("student", "by", "action") if visit.query.get(name)
    }
    entries = log.newest(PAGE + 1, before=before, **filters)  # one more tells whether there is another page
    return visit.page(
        "instructor/log.html.j2",
        entries=entries[:PAGE],
        older=entries[PAGE - 1][0] if len(entries) > PAGE else None,
        before=before,
        actions=log.actions(),
        filters=filters,
        jobs=visit.site.jobs.all(),
        names=StudentNames(visit),
        person_name=lambda person: _name(visit, person),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def _name(visit: Visit, person: str) -> str:
    known = visit.site.people.by_id.get(person)
    return known.name if known is not None and known.name else person or "the site"
