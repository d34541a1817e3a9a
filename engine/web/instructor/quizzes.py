"""Quizzes: blueprints tried and drawn, and each drawn quiz with its key, deadlines and publication."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.course.person_search import PersonSearch
from engine.course.policies import LocalTime
from engine.course.students import Student
from engine.errors import InputError, QuizError, UsageError
from engine.items.bank import builtin_root
from engine.marks import terms_of
from engine.model import Quiz
from engine.pages.quiz import key_page, quiz_page
from engine.quiz import compose, read_blueprint
from engine.quiz.answer_key import quiz_key
from engine.quiz.blueprint import blueprint_folders, deadline_of, find_blueprint
from engine.quiz.compose import on_this_machine
from engine.quiz.drawn_class import (
    LINT_SEEDS,
    checked_quiz_name,
    draw_class,
    drawn_quizzes,
    shares_before,
)
from engine.quiz.quiz_statistics import QuizStatistics, statistics_of, warnings_of
from engine.quiz.rules import rules_text
from engine.quiz.variant_search import drawn_variants, find_variants
from engine.runner import SandboxOptions
from engine.store.published import Publication
from engine.text.words import agree, count_noun
from engine.web.forms import whole_number
from engine.web.instructor.person_fields import fault_of
from engine.web.instructor.staff import (
    StudentNames,
    job_of,
    progress_page,
    standalone,
    start_job,
    with_query,
)
from engine.web.jobs import JobState, SiteJob
from engine.web.student.answer_fields import answer_field
from engine.web.visit import NotFoundError, Visit

if TYPE_CHECKING:
    from starlette.responses import Response

_MOST_KEYS = 400  # on one page: a class of that size; larger ones are shown student by student


@dataclass(frozen=True, slots=True)
class BlueprintLine:
    """A blueprint in the list: its title and size, or its faults with their lines."""

    name: str
    title: str
    questions: int
    is_course: bool
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnQuizLine:
    """A drawn quiz in the list."""

    name: str
    title: str
    students: int
    without: int
    deadline: datetime | None
    published: Publication | None


def list_page(visit: Visit) -> Response:
    """List what was drawn, and the blueprints that can be."""
    store = visit.site.store
    published, titles = store.published.all(), store.sittings.quiz_titles()
    roster = set(visit.site.state.roster.by_id)
    # By name, as (id, student): all quizzes of a term have thousands of variants, none of which is shown.
    places: dict[str, list[tuple[str, str]]] = {}
    for place, name in store.sittings.names_by_id().items():
        places.setdefault(name, []).append(place)
    drawn = []
    for name, owners in sorted(places.items()):
        students = {student for _, student in owners}
        first = store.load_quiz(*min(owners, key=lambda place: place[1]))
        drawn.append(
            DrawnQuizLine(
                name,
                titles.get(name, name),
                len(students),
                len(roster - students),
                first.rules.deadline if first else None,
                published.get(name),
            )
        )
    return visit.page("instructor/quizzes.html.j2", drawn=drawn, blueprints=_blueprints(visit))


def _blueprints(visit: Visit) -> list[BlueprintLine]:
    lines: dict[str, BlueprintLine] = {}
    for folder in blueprint_folders(visit.site.course.blueprints):
        for path in sorted(folder.glob("*.yaml")):
            if path.stem not in lines:
                lines[path.stem] = _blueprint(path, is_course=folder != builtin_root() / "blueprints")
    return sorted(lines.values(), key=lambda line: (not line.is_course, line.name))


def _blueprint(path: Path, *, is_course: bool) -> BlueprintLine:
    try:
        plan = read_blueprint(path).blueprint
    except InputError as error:
        return BlueprintLine(path.stem, path.name, 0, is_course, tuple(error.lines()))
    questions = sum(len(s.items) + sum(draw.count for draw in s.draws) for s in plan.sections)
    return BlueprintLine(path.stem, plan.title, questions, is_course)


def _path(visit: Visit, name: str) -> Path:
    # Only names: a path in a form must never open a file somewhere else.
    if name != Path(name).name or name.endswith((".yaml", ".yml")) or len(name) > 100:
        raise NotFoundError("there is no such blueprint")
    try:
        return find_blueprint(name, blueprint_folders(visit.site.course.blueprints))
    except QuizError as error:
        raise NotFoundError("there is no such blueprint") from error


def start_check(visit: Visit) -> Response:
    """Draw a blueprint for the class without storing anything, as ``grade quiz check`` does."""
    site, name = visit.site, visit.form.text("blueprint")
    path = _path(visit, name)
    plan = read_blueprint(path)
    # Any ids do: seeds are hashes of them.
    students = site.course.roster_ids() or [f"student-{number}" for number in range(1, 31)]
    bank, secret = site.bank, site.course.secret()

    def work(job: SiteJob) -> tuple[QuizStatistics, list[str], list[Quiz]]:
        quizzes = compose(
            plan, bank, students, secret=secret, name=path.stem, progress=job.expect(len(students))
        )
        figures = statistics_of(quizzes, bank, observed=shares_before(site.store, site.mode))
        return figures, warnings_of(figures, bank, visit.now, plan.blueprint), quizzes[:1]

    facts = {"blueprint": name, "plan": plan.fingerprint}
    title = f"Trying blueprint {name} for {count_noun(len(students), 'student')}"
    return start_job(visit, "check", title, work, facts, "instructor.quiz.checked")


def checked_page(visit: Visit) -> Response:
    """Show what a drawn class would be like."""
    job = job_of(visit, "check")
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    figures, warnings, quizzes = job.result
    return visit.page(
        "instructor/quiz_check.html.j2",
        job=job,
        figures=figures,
        warnings=warnings,
        quiz=quizzes[0],
        rules=rules_text(figures.rules),
        with_observed=any(q.observed is not None for q in figures.questions),
    )


def check_preview(visit: Visit) -> Response:
    """Show the first student's quiz of a trial draw, as it would be on the site or on paper."""
    job = job_of(visit, "check")
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    return _preview_page(visit, job.result[2][0], "a student")


def _preview_page(visit: Visit, quiz: Quiz, who: str) -> Response:
    """Show one question of a quiz as its student sees it, without sending anything; or all of it on paper."""
    if visit.query.get("paper") == "1":
        return standalone(quiz_page(quiz, student=who))
    number = whole_number(visit.query.get("question", ""), quiz.questions[0].number)
    question = next((q for q in quiz.questions if q.number == number), None)
    if question is None:
        raise NotFoundError("this quiz has no such question")
    return visit.page(
        "instructor/quiz_preview.html.j2",
        quiz=quiz,
        student=who,
        question=question,
        fields=[answer_field(part, "", 0) for part in question.variant.parts],
        rules=rules_text(quiz.rules),
        with_query=lambda **changes: with_query(visit, **changes),
    )


def start_draw(visit: Visit) -> Response:
    """Draw a quiz for everybody in the roster who has none, as ``grade quiz new`` does."""
    site, blueprint = visit.site, visit.form.text("blueprint")
    plan = read_blueprint(_path(visit, blueprint))
    name = checked_quiz_name(visit.form.text("name").strip() or blueprint)
    students = site.course.roster_ids()
    if not students:
        raise UsageError("the roster is empty", next_step="add students to roster.csv, on the page Course")
    # Taken here: a course folder that changes meanwhile must not mix two states in one draw.
    bank, secret, problems = site.bank, site.course.secret(), site.course.problems

    course, address = site.course, site.hand_in_desk.queue_address

    def work(job: SiteJob) -> tuple[Any, list[Any], list[str]]:
        from engine.authoring.lint import lint_bank

        step = job.expect(len(students))
        workers = None
        if address is not None:
            from engine.cluster.class_drawing import ClassDrawing
            from engine.cluster.course_side import queue_of

            workers = ClassDrawing(
                lambda: queue_of(course, bank, address, SandboxOptions()),
                bank,
                expect=lambda pieces: job.expect(pieces + len(students)),
            )
        drawn = draw_class(
            site.store,
            bank,
            plan,
            students,
            secret=secret,
            name=name,
            mode=site.mode,
            progress=step,
            place=workers or on_this_machine,
        )
        items = drawn.course_items(bank, problems)
        reports = lint_bank(bank, items, seeds=LINT_SEEDS) if items else []
        faulty = [report for report in reports if report.errors]
        return drawn, faulty, [] if workers is None else workers.notes

    # Logged when it is asked for: a server that is killed meanwhile may have stored it.
    visit.log("quiz.draw", name, blueprint=blueprint, students=len(students))
    title = f"Drawing quiz {name} for {count_noun(len(students), 'student')}"
    facts = {"name": name, "plan": plan.fingerprint, "students": tuple(students)}
    return start_job(visit, "draw", title, work, facts, "instructor.quiz.drawn")


def drawn_page(visit: Visit) -> Response:
    """Show what was drawn, and what is worth knowing about it."""
    job = job_of(visit, "draw")
    if job.state is not JobState.DONE:
        return progress_page(visit, job)
    drawn, faulty, notes = job.result
    return visit.page(
        "instructor/quiz_drawn.html.j2",
        job=job,
        drawn=drawn,
        published=job.facts["name"] in visit.site.store.published.all(),
        faulty=faulty,
        notes=notes,
        changed=drawn.changed_items(visit.site.bank),
        unreadable=visit.site.bank.summaries()[1] if drawn.draws_from_bank else [],
    )


def quiz_view(visit: Visit, error: UsageError | None = None) -> Response:
    """Show a drawn quiz: its state, deadlines, and what can be done with it; `error` is its form's."""
    name = visit.path["name"]
    quizzes = _quizzes(visit, name)
    store, policies = visit.site.store, visit.site.policies()
    names = StudentNames(visit)
    missing = sorted(set(visit.site.state.roster.by_id) - {quiz.student for quiz in quizzes})
    groups: dict[tuple[Any, ...], list[str]] = {}
    for quiz in quizzes:
        terms = terms_of(policies, quiz.student, name)
        groups.setdefault((quiz.rules.deadline, terms.due, terms.closes), []).append(quiz.student)
    return visit.page(
        "instructor/quiz.html.j2",
        status=200 if error is None else 400,
        fault=None if error is None else fault_of(error),
        people=_drawn_for(visit, quizzes),
        name=name,
        quiz=quizzes[0],
        quizzes=quizzes,
        names=names,
        missing=missing,
        groups=groups,
        published=store.published.all().get(name),
        rules=rules_text(quizzes[0].rules),
        changed=_changed(visit, quizzes),
        blueprints=[line.name for line in _blueprints(visit) if not line.faults],
    )


def _quizzes(visit: Visit, name: str) -> list[Quiz]:
    try:
        return drawn_quizzes(visit.site.store, name)
    except QuizError as error:
        raise NotFoundError("no quiz of this name was drawn") from error


def _drawn_for(visit: Visit, quizzes: list[Quiz]) -> list[Student]:
    roster = visit.site.state.roster.by_id
    return [roster.get(student) or Student(student) for student in dict.fromkeys(q.student for q in quizzes)]


def _changed(visit: Visit, quizzes: list[Quiz]) -> list[str]:
    versions = dict.fromkeys(
        (q.variant.item, q.variant.item_version) for quiz in quizzes for q in quiz.questions
    )
    bank = visit.site.bank
    return list(dict.fromkeys(item for item, version in versions if bank.has_changed(item, version)))


def preview(visit: Visit) -> Response:
    """Show one student's quiz without keys, as it is on the site, or on paper."""
    quizzes = _quizzes(visit, visit.path["name"])
    names = StudentNames(visit)
    chosen = visit.query.get("student", quizzes[0].student)
    # As on the site: of several draws the newest is the one that the student has.
    quiz = {quiz.student: quiz for quiz in quizzes}.get(chosen)
    if quiz is None:
        raise NotFoundError("this student has no such quiz")
    return _preview_page(visit, quiz, names.name(quiz.student))


def show_key(visit: Visit) -> Response:
    """Show keys and worked solutions of a quiz: everybody's, or one student's."""
    name = visit.path["name"]
    quizzes = _quizzes(visit, name)
    student = visit.query.get("student")
    # A page of a thousand quizzes helps nobody, and the archive of keys has them all.
    chosen = [quiz for quiz in quizzes if student in (None, quiz.student)][:_MOST_KEYS]
    if not chosen:
        raise NotFoundError("this student has no such quiz")
    site = visit.site
    keys = [quiz_key(site.store, quiz, site.bank) for quiz in chosen]
    # Who looked at a key is asked when one is found elsewhere.
    visit.log("quiz.key", name, student=student)
    known = {person.id: person.name for person in site.state.roster.students if person.name}
    return standalone(key_page(keys, names=known))


def publish(visit: Visit) -> Response:
    """Put a quiz on the site, or take it off again; what was answered stays."""
    name = visit.path["name"]
    quizzes = _quizzes(visit, name)
    store = visit.site.store
    if visit.form.text("action") == "withdraw":
        with store.one_transaction():
            if store.published.withdraw(name):
                visit.log("quiz.withdraw", name)
        visit.notice(f"Quiz {name} is off the site. What students have answered is kept.")
    else:
        with store.one_transaction():
            done = store.published.publish(name, visit.me.name or visit.me.id, visit.now)
            if done.at == visit.now:  # the second time nothing changes
                visit.log("quiz.publish", name, students=len(quizzes))
        count = len({quiz.student for quiz in quizzes})
        visit.notice(f"Quiz {name} is on the site for {count_noun(count, 'student')}.")
    return visit.redirect("instructor.quiz", name=name)


def move_deadline(visit: Visit) -> Response:
    """Move the deadline of a quiz, for everybody or for some students, as ``grade quiz deadline`` does."""
    name, form = visit.path["name"], visit.form
    quizzes = _quizzes(visit, name)
    text = "none" if form.text("no_deadline") == "yes" else form.moment("deadline")
    try:
        if not text:
            raise UsageError("say when the quiz closes", expected="a date and time, or no deadline at all")
        zone = visit.site.policies().zone
        moment = deadline_of(text if _has_zone(text) else f"{text}{_offset(text, zone)}")
        # All or nothing: a deadline moved for some of those named would be noticed too late.
        people = PersonSearch(_drawn_for(visit, quizzes)).people(form.text("students"))
        if form.text("students").strip() and not people:
            raise UsageError("nobody is named", expected="names or ids, or an empty field for everybody")
    except UsageError as error:
        return quiz_view(visit, error)
    students = [person.id for person in people]
    details = {
        "deadline": moment.isoformat() if moment else "none",
        "reason": form.text("reason").strip()[:1000],
    }
    with visit.site.store.one_transaction():
        moved = visit.site.store.sittings.move_deadline(name, moment, students)
        # One entry for each student: the log is searched, handed out and erased by student.
        for student in dict.fromkeys(students) or (None,):
            visit.log("quiz.deadline", name, student=student, **details)
    count = sum(before.rules.deadline != after.rules.deadline for before, after in moved)
    visit.notice(f"{count_noun(count, 'quiz')} {agree(count, 'have')} another deadline now.")
    return visit.redirect("instructor.quiz", name=name)


def _has_zone(text: str) -> bool:
    return text == "none" or text.endswith(("Z", "z")) or "+" in text or text.count("-") > 2


def _offset(text: str, zone: tzinfo) -> str:
    """Return the offset of the course's time zone at a local time that somebody typed, such as ``+01:00``."""
    try:
        wall = datetime.fromisoformat(text)
        # As in course.yaml: of a time that clocks show twice the later one counts.
        moment = LocalTime(wall, timedelta()).ends(zone)
    except (ValueError, OverflowError):  # the message about it names the whole text
        return ""
    if wall.tzinfo is not None:  # in a form that :func:`_has_zone` doesn't know
        return ""
    minutes = round((wall - moment.replace(tzinfo=None)).total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def find_variant(visit: Visit) -> Response:
    """Say whose variant a text or some numbers are about, as ``grade find-variant`` does."""
    store = visit.site.store
    text, quiz = visit.form.text("text"), visit.form.text("quiz") or None
    result = None
    if text.strip():
        if quiz is not None and quiz not in store.quiz_names():
            raise UsageError("no quiz of this name was drawn", got=quiz)
        result = find_variants(drawn_variants(store, quiz), text, most=20)
        visit.log("variant.find", quiz or "all quizzes", matches=len(result.matches))
    return visit.page(
        "instructor/find_variant.html.j2",
        text=text,
        quiz=quiz,
        quizzes=store.quiz_names(),
        result=result,
        names=StudentNames(visit),
    )
