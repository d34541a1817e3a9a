"""What staff takes away: the item analysis, similar hand-ins, gradebooks, feedback pages, keys.

Each is made in the background as the command makes it, and kept with its job: pages to open, files to save.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.course import StudentLabels
from engine.errors import UsageError
from engine.marks.gradebooks import FORMATS, check_settings, gradebook_format, gradebook_request
from engine.pages.class_pages import check_assignment, write_class_pages
from engine.pages.quiz import key_page
from engine.pages.zip import LAYOUTS
from engine.quiz.answer_key import quiz_key
from engine.text.files import zip_bytes
from engine.text.words import count_noun
from engine.web.instructor.staff import download, job_of, progress_page, standalone, start_job
from engine.web.jobs import JobState, SiteJob
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_KIND = "report"
_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "zip": "application/zip",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(frozen=True)
class MadeFiles:
    """The files of one job by name, and what a person should know of them.

    Parameters
    ----------
    files : mapping of str to bytes
        ``index.html`` is the page to open, if there is one.
    notices : sequence of (str, str)
        About whom or what, and the sentence.
    """

    files: Mapping[str, bytes]
    notices: Sequence[tuple[str, str]] = ()


def reports_page(visit: Visit) -> Response:
    """Offer everything that can be made, and what was made last."""
    store, mode = visit.site.store, visit.site.mode
    answered = {item for item, _ in store.activity.item_versions(mode)}
    return visit.page(
        "instructor/reports.html.j2",
        quizzes=store.sittings.quiz_titles(),
        code=sorted(answered & set(visit.site.bank.code_ids())),
        formats=list(FORMATS),
        layouts=list(LAYOUTS),
        jobs=visit.site.jobs.newest(_KIND),
    )


def start(visit: Visit) -> Response:
    """Make what a form asks for."""
    makers: Mapping[str, Callable[[Visit], tuple[str, Callable[[SiteJob], MadeFiles]]]] = {
        "analysis": _analysis,
        "similar": _similar,
        "gradebook": _gradebook,
        "pages": _pages,
        "keys": _keys,
    }
    what = visit.form.text("what")
    if what not in makers:
        raise UsageError("there is no such report", expected=", ".join(makers))
    title, work = makers[what](visit)
    # The same form sent twice is the same job; the token differs and says nothing.
    fields = {name: tuple(texts) for name, texts in visit.form.fields.items() if name != "csrf"}
    visit.log(f"export.{what}", title)
    return start_job(visit, _KIND, title, work, {"what": what, "fields": fields}, "instructor.report")


def _analysis(visit: Visit) -> tuple[str, Callable[[SiteJob], MadeFiles]]:
    site, form = visit.site, visit.form
    quizzes, code = tuple(form.texts("quiz")), form.text("code") == "yes"
    labels = _labels(visit)

    def work(_job: SiteJob) -> MadeFiles:
        from engine.analysis.report_of_store import report_of_store
        from engine.analysis.report_page import write_report

        report = report_of_store(
            site.store, site.bank, site.mode, title=site.course.title, quizzes=quizzes, code=code
        )
        return _in_folder(lambda folder: write_report(folder, report, labels))

    return f"Item analysis of {', '.join(quizzes) or 'everything'}", work


def _labels(visit: Visit) -> StudentLabels:
    return StudentLabels(_names(visit), is_hidden=visit.form.text("anonymous") == "yes")


def _names(visit: Visit) -> dict[str, str]:
    return {s.id: s.name for s in visit.site.state.roster.students if s.name}


def _similar(visit: Visit) -> tuple[str, Callable[[SiteJob], MadeFiles]]:
    site, item = visit.site, visit.form.text("item") or None
    names, is_hidden = _names(visit), visit.form.text("anonymous") == "yes"
    if item is not None:
        site.bank.path(item)

    def work(job: SiteJob) -> MadeFiles:
        from engine.practice.starter import starter_file
        from engine.similarity.findings import find
        from engine.similarity.gather import FileLabels, of_store
        from engine.similarity.page import write_similarity_pages
        from engine.variants import draw_seeded

        bank = site.bank

        def handed_out(item: str) -> list[str]:
            if item not in bank:
                return []
            spec = bank.load(item)
            variant = draw_seeded(spec, version=bank.version(item), registry=bank.registry(), seed=0)
            return [starter_file(bank, item, variant, f"{bank.summary(item).function}.py")]

        collected, copied = of_store(site.store, site.mode, item)
        advance = job.expect(len(collected.works))
        findings = find(collected, handouts=handed_out, copied_answers=copied, keep=50, progress=advance)
        labels = FileLabels(names, is_hidden=is_hidden)
        return _in_folder(
            lambda folder: write_similarity_pages(folder, findings, labels, title=site.course.title)
        )

    return f"Similar hand-ins of {item or 'everything'}", work


def _gradebook(visit: Visit) -> tuple[str, Callable[[SiteJob], MadeFiles]]:
    site, form = visit.site, visit.form
    chosen = gradebook_format(form.text("format"))
    name = f"gradebook-{chosen.name}.{'xlsx' if chosen.name == 'excel' else 'csv'}"
    uploaded = next(iter(form.files("into")), None)
    # The request's own folder is gone when the job runs.
    into = uploaded.path.read_bytes() if uploaded is not None and uploaded.size else None
    excel = form.text("excel") == "yes"
    settings = {
        "scale": form.text("scale") == "yes",
        "feedback": form.text("feedback") == "yes",
        "key": form.text("key") or None,
        "delimiter": form.text("delimiter") or None,
        "decimal_comma": form.text("decimal_comma") == "yes",
        "marked": excel,
        "protect_ids": excel,
    }
    columns = tuple(line.strip() for line in form.text("columns").splitlines() if line.strip())
    checked = check_settings(chosen, {**settings, "into": Path("into") if into else None}, Path(name))

    def work(job: SiteJob) -> MadeFiles:
        advance = job.expect(len(site.state.roster.students))
        with tempfile.TemporaryDirectory(prefix="softmark-") as folder:
            if into is not None:
                checked["into"] = Path(folder) / "into.csv"
                checked["into"].write_bytes(into)
            students = (_counted(results, advance) for results in site.results())
            request = gradebook_request(
                site.store,
                students,
                site.state.roster,
                site.course.title,
                columns=columns,
                settings=checked,
            )
            made = chosen.make(request)
        problems = [(p.where, p.message) for p in (*site.course.rule_problems(), *request.roster.problems())]
        notices = [(notice.where, f"{notice.kind}: {notice.message}") for notice in made.notices]
        return MadeFiles({name: made.content}, [*problems, *notices])

    return f"Gradebook for {chosen.name}", work


def _counted(results: Any, advance: Callable[[], None]) -> Any:
    advance()
    return results


def _pages(visit: Visit) -> tuple[str, Callable[[SiteJob], MadeFiles]]:
    site, form = visit.site, visit.form
    # Refused before the job starts: its own page would say so a minute later.
    layout, assignment = form.text("layout") or "plain", form.text("assignment") or None
    if layout not in LAYOUTS:
        raise UsageError("there is no such archive", expected=", ".join(LAYOUTS))
    if assignment is not None:
        check_assignment(assignment, {*site.store.quiz_names(), *site.bank.code_ids()})
    solutions = form.text("solutions") == "yes"
    site.course.require_rules()  # they say what may be shown

    def work(job: SiteJob) -> MadeFiles:
        advance = job.expect(len(site.state.roster.students))
        with tempfile.TemporaryDirectory(prefix="softmark-") as folder:
            written = write_class_pages(
                Path(folder),
                site.results(),
                title=site.course.title,
                solutions=solutions,
                layout=layout,
                assignment=assignment,
                progress=advance,
            )
            files = {} if written.archive is None else {written.archive.name: written.archive.read_bytes()}
        return MadeFiles(files, [(page.student, page.reason) for page in written.left_out])

    return f"Feedback pages for {layout}", work


def _keys(visit: Visit) -> tuple[str, Callable[[SiteJob], MadeFiles]]:
    site = visit.site
    known = site.store.quiz_names()
    chosen = [name for name in known if name in visit.form.texts("quiz")]
    if not chosen:
        raise UsageError("choose at least one quiz", expected=", ".join(known) or "none was drawn yet")
    names = _names(visit)

    def work(job: SiteJob) -> MadeFiles:
        advance = job.expect(len(chosen))
        pages = {}
        for number, name in enumerate(chosen, start=1):
            keys = [quiz_key(site.store, quiz, site.bank) for quiz in site.store.quizzes(name)]
            # Numbered: a quiz's name may hold what a file's name can't.
            plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name)
            pages[f"{number:02}-{plain}-key.html"] = key_page(keys, names=names)
            advance()
        return MadeFiles({"keys.zip": zip_bytes(pages)})

    return f"Keys of {count_noun(len(chosen), 'quiz')}", work


def _in_folder(write: Callable[[Path], object]) -> MadeFiles:
    """Return the files that a function writes into a folder."""
    with tempfile.TemporaryDirectory(prefix="softmark-") as folder:
        root = Path(folder)
        write(root)
        paths = sorted(path for path in root.rglob("*") if path.is_file())
        return MadeFiles({path.relative_to(root).as_posix(): path.read_bytes() for path in paths})


def report_page(visit: Visit) -> Response:
    """Show what a job has made: its files, and what needs a person."""
    job = job_of(visit, _KIND)
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    made: MadeFiles = job.result
    files = [name for name in made.files if "/" not in name]
    return visit.page("instructor/report_done.html.j2", job=job, made=made, files=files)


def report_file(visit: Visit) -> Response:
    """Return one file of a job: a page to read, or a file to save."""
    job = job_of(visit, _KIND)
    made = job.result if job.state is JobState.DONE else MadeFiles({})
    # Names are looked up among what was made, and never on the disk.
    folder = visit.path.get("folder")
    name = f"{folder}/{visit.path['file']}" if folder else visit.path["file"]
    if name not in made.files:
        raise NotFoundError("there is no such file")
    content, suffix = made.files[name], name.rpartition(".")[2]
    if suffix == "html":
        return standalone(content.decode("utf-8"))
    return download(content, visit.path["file"], _TYPES.get(suffix, "application/octet-stream"))
