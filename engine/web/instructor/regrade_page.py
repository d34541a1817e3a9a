"""Marking stored work again after an item was corrected: the differences first, then the decision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from engine.errors import InputError, UnknownItemError, UsageError
from engine.model import Mode
from engine.runner import SandboxOptions
from engine.runs import CodeExercises
from engine.runs.regrade import RegradePlan, RegradeScope, apply_plan, plan_regrade, regrade_history
from engine.text.words import agree, count_noun
from engine.web.instructor.person_fields import fault_of, known_students, student_named
from engine.web.instructor.staff import StudentNames, job_of, page_of, progress_page, start_job, with_query
from engine.web.jobs import JobState, SiteJob
from engine.web.site import CourseState, Site
from engine.web.visit import Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_SLOTS = 2  # sandboxes at a time: students' hand-ins must not wait for a regrade
_WAITING = 32  # programs whose reports are waited for at the same time, where other machines grade


def regrade_page(visit: Visit, error: InputError | None = None) -> Response:
    """Ask what to mark again, and show what earlier regrades changed; `error` is that of its form."""
    store, bank = visit.site.store, visit.site.bank
    history = regrade_history(store)[::-1]
    return visit.page(
        "instructor/regrade.html.j2",
        status=200 if error is None else 400,
        error=error,
        fault=None if error is None else fault_of(error),
        people=known_students(visit),
        changed=_changed_items(visit),
        quizzes=store.quiz_names(),
        items=bank.ids(),
        history=page_of(history, visit),
        names=StudentNames(visit),
        jobs=visit.site.jobs.newest("regrade"),
        elsewhere=visit.site.hand_in_desk.queue_address is not None,
        with_query=lambda **changes: with_query(visit, "instructor.regrade", **changes),
    )


def _changed_items(visit: Visit) -> list[str]:
    """Return the items of which stored work was marked with another version."""
    versions = visit.site.store.activity.item_versions(visit.site.mode)
    return sorted({item for item, version in versions if visit.site.bank.has_changed(item, version)})


def start_plan(visit: Visit) -> Response:
    """Mark the chosen work again and compare; nothing is written."""
    site, form = visit.site, visit.form
    items = tuple(word for text in form.texts("item") for word in text.replace(",", " ").split())
    try:
        for item in items:
            site.bank.path(item)  # a mistyped name would find nothing, and look like good news
        student = form.text("student").strip()
        scope = RegradeScope(
            items,
            form.text("quiz") or None,
            student_named(visit, student) if student else None,
            form.text("everything") == "yes",
        )
        # A mistyped quiz would find nothing as well, and so would a student without any work.
        scope.check(site.store)
    except (UsageError, UnknownItemError) as error:
        return regrade_page(visit, error)

    def work(job: SiteJob) -> RegradePlan:
        state = site.state
        with _exercises(site, state, job) as code:
            plan = plan_regrade(
                site.store,
                state.bank,
                code=code,
                sandbox=sandbox_of(site),
                mode=site.mode,
                scope=scope,
                workers=_SLOTS if site.hand_in_desk.queue_address is None else _WAITING,
                progress=job.watch,
            )
        return plan.never_lower() if facts["never_lower"] else plan

    what = ", ".join(items) or "everything that changed"
    facts = {"scope": scope, "never_lower": form.text("never_lower") == "yes", "what": what}
    return start_job(visit, "regrade", f"Marking again: {what}", work, facts, "instructor.regrade.plan")


@contextmanager
def _exercises(site: Site, state: CourseState, job: SiteJob) -> Iterator[CodeExercises]:
    """Yield the exercises of a regrade: graded where the site's hand-ins are, here or by other machines."""
    mode, secret = Mode(state.course.mode), state.course.secret()
    address = site.hand_in_desk.queue_address
    if address is None:
        yield CodeExercises(state.bank, secret=secret, mode=mode)
        return
    from engine.cluster.course_side import ClusterExercises, queue_of

    # A connection of its own: at its end it waits for no report any more, while hand-ins go on. A server that
    # is killed leaves its programs to the workers; started again, a regrade finds their reports in the queue.
    with closing(queue_of(state.course, state.bank, address, sandbox_of(site))) as course_queue:
        job.call_when_stopped(course_queue.halt.set)
        job.why_held = site.hand_in_desk.why_held
        yield ClusterExercises(
            state.bank, secret=secret, mode=mode, course_queue=course_queue, interactive=False
        )


def sandbox_of(site: Site) -> SandboxOptions:
    """Return how student code is run: with the course's packages, in the strongest sandbox."""
    from engine.sandbox.bwrap import offer_packages

    offer_packages(site.course.settings.offered_packages)
    return SandboxOptions(unsafe_local=site.mode is Mode.PRACTICE)


def plan_page(visit: Visit) -> Response:
    """Show what a regrade would change: every mark that differs, and who must look at what."""
    job = job_of(visit, "regrade")
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    plan: RegradePlan = job.result
    return visit.page(
        "instructor/regrade_plan.html.j2",
        job=job,
        plan=plan,
        changes=page_of(plan.visible, visit),
        same=len(plan.changes) - len(plan.visible),
        names=StudentNames(visit),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def apply(visit: Visit) -> Response:
    """Write a plan, as ``grade regrade`` does; what changed meanwhile is left alone."""
    job = job_of(visit, "regrade")
    if job.state is not JobState.DONE:
        raise UsageError("this regrade has no result yet", next_step="wait until it is done")
    plan: RegradePlan = job.result
    reason = visit.form.text("reason").strip()
    if not reason:
        raise UsageError("say why marks change: students and colleagues may ask", expected="a reason")
    if plan.is_empty or job.facts.get("run"):
        raise UsageError("this is stored already, or there is nothing to store")
    store = visit.site.store
    with store.one_transaction():
        run, skipped = apply_plan(store, plan, by=visit.me.name or visit.me.id, cause=reason[:1000])
        left_alone = {(attempt.student, attempt.item, attempt.submission) for attempt in skipped}
        written = [change.old for change in plan.visible]
        count = sum((old.student, old.item, old.submission) not in left_alone for old in written)
        visit.log(
            "regrade.apply",
            str(job.facts["what"]),
            run=run,
            changes=count,
            never_lower=bool(job.facts["never_lower"]) or None,
            reason=reason[:1000],
        )
    # The plan stays to be read, and is never written a second time.
    job.facts = {**job.facts, "run": run, "count": count}
    visit.notice(f"Written: {count_noun(count, 'mark')} {agree(count, 'have')} changed.")
    if skipped:
        visit.notice(f"{count_noun(len(skipped), 'attempt')} changed meanwhile and were left alone.")
    return visit.redirect("instructor.regrade.plan", job=job.id)
