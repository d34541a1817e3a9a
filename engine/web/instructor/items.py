"""The items of the bank: a list with filters, each one's preview with keys, and what lint says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.errors import UnknownItemError
from engine.web.instructor.staff import job_of, page_of, progress_page, standalone, start_job, with_query
from engine.web.jobs import JobState, SiteJob
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

    from engine.authoring.preview.follow import PreviewSource

_PREVIEWS = 6  # variants on a page
_LINT_SEEDS = 30  # as many as `grade lint` draws by itself


def _course_items(visit: Visit) -> list[str]:
    bank, problems = visit.site.bank, visit.site.course.problems
    return [item for item in bank.ids() if bank.path(item).is_relative_to(problems)]


def list_page(visit: Visit) -> Response:
    """List the items that fit the query's filters, and the files that can't be read."""
    items, faulty = visit.site.bank.summaries()
    # The built-in items were checked before they came here; the course's own are what needs a look.
    course = set(_course_items(visit))
    query = {name: visit.query.get(name, "").strip() for name in ("topic", "type", "find")}
    words = query["find"].casefold()
    chosen = [
        item
        for item in items
        if (not query["topic"] or query["topic"] in item.topics)
        and (not query["type"] or query["type"] == item.kind)
        and (not words or words in f"{item.id} {item.title}".casefold())
        and (visit.query.get("course") != "1" or item.id in course)
    ]
    return visit.page(
        "instructor/items.html.j2",
        items=page_of(chosen, visit),
        faulty=faulty,
        topics=sorted({topic for item in items for topic in item.topics}),
        types=sorted({item.kind for item in items}),
        chosen=query,
        course=course,
        only_course=visit.query.get("course") == "1",
        linted=visit.site.jobs.newest("lint")[:1],
        with_query=lambda **changes: with_query(visit, **changes),
    )


def _source(visit: Visit) -> PreviewSource:
    from engine.authoring.preview.follow import PreviewSource

    bank = visit.site.bank
    try:
        path = bank.path(visit.path["item"])
    except UnknownItemError as error:
        raise NotFoundError("there is no such item") from error
    return PreviewSource(path=path, bank=lambda: bank, seeds=_PREVIEWS)


def preview(visit: Visit) -> Response:
    """Show some variants of an item with keys, known mistakes and feedback, and what lint says of it."""
    from dataclasses import replace

    from engine.authoring.preview.follow import check, look_at
    from engine.authoring.preview.server import page_of as preview_page

    source = _source(visit)
    look = look_at(source, None)
    is_code = look.spec is not None and look.spec.kind == "code"
    # Lint of an exercise runs its programs, which takes too long for a page: that is a job of its own.
    findings = () if is_code else check(source, look)
    page = preview_page(
        replace(look, findings=findings),
        "",
        source.path,
        is_live=False,
        back=("Items", visit.url("instructor.items")),
    )
    return standalone(visit.site.plain_places(page))


def start_lint(visit: Visit) -> Response:
    """Lint one item, or all items of the course's own, in the background as ``grade lint`` does."""
    bank, item = visit.site.bank, visit.form.text("item")
    if item:
        bank.path(item)
    items = [item] if item else _course_items(visit)

    def work(job: SiteJob) -> list[Any]:
        from engine.authoring.lint import lint_bank

        advance = job.expect(len(items))
        return lint_bank(bank, items, seeds=_LINT_SEEDS, progress=lambda report: advance()) if items else []

    title = f"Checking {item or 'the items of the course'}"
    return start_job(visit, "lint", title, work, {"items": tuple(items)}, "instructor.item.linted")


def linted_page(visit: Visit) -> Response:
    """Show what lint found, item by item."""
    job = job_of(visit, "lint")
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    reports = sorted(job.result, key=lambda report: (report.passed, not report.findings, report.item))
    return visit.page("instructor/lint.html.j2", job=job, reports=reports)
