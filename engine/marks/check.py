"""What there is in a course: read from its roster, its store, its plans and the bank."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from engine.course.course import Course
from engine.course.local_time import LocalTime
from engine.course.policies import DEFAULT, AssignmentRules, DeadlineExtension, Policies
from engine.errors import Diagnostic, InputError
from engine.items.bank import Bank
from engine.items.misconceptions import builtin_root
from engine.marks.deadlines import StudentDeadlines, extended_due, terms_of
from engine.marks.late_work import plain
from engine.model import QuizRules
from engine.quiz.blueprint import read_blueprint
from engine.store import Store
from engine.text.words import agree, count_noun, did_you_mean
from engine.text.yaml_errors import Loc

__all__ = [
    "CourseFacts",
    "Finding",
    "PlacedRules",
    "date_findings",
    "facts_of",
    "find_contradictions",
    "group_findings",
    "idle_findings",
    "name_findings",
    "people_findings",
    "quiz_findings",
]


# ----------------------------------------------------------------------------------------------------
# What the rules are compared with.

Finding = tuple[Loc, str]
"""Where in course.yaml something stands, and what is wrong with it."""


@dataclass(frozen=True)
class CourseFacts:
    """What there is in a course.

    Parameters
    ----------
    students : frozenset of str
        Ids of the roster; empty where there is none.
    code : frozenset of str
        Code items.
    quizzes : frozenset of str
        Names of quizzes, drawn or planned.
    quiz_rules : mapping of str to mapping of str to QuizRules
        By quiz and student; a quiz that isn't drawn yet has one entry, for the student ``""``.
    """

    students: frozenset[str] = frozenset()
    code: frozenset[str] = frozenset()
    quizzes: frozenset[str] = frozenset()
    quiz_rules: Mapping[str, Mapping[str, QuizRules]] = field(default_factory=dict)

    @property
    def assignments(self) -> frozenset[str]:
        """Everything that rules can be about."""
        return self.code | self.quizzes


@dataclass(frozen=True)
class PlacedRules:
    """An assignment's rules, and where each of them stands."""

    name: str
    rules: AssignmentRules
    own: frozenset[str]

    def place(self, key: str) -> Loc:
        """Return where a key stands: here, or in ``default``."""
        return ("policies", "assignments", self.name if key in self.own else DEFAULT, key)

    @property
    def loc(self) -> Loc:
        """Where the assignment stands."""
        return ("policies", "assignments", self.name)

    @classmethod
    def all(cls, policies: Policies) -> Iterator[PlacedRules]:
        """Yield all assignments with what they take from ``default``, which comes too."""
        for name, own in policies.assignments.items():
            yield cls(name, policies.rules_of(name), frozenset(own.model_fields_set))


def facts_of(course: Course, store: Store, bank: Bank) -> CourseFacts:
    """Return what the rules of a course are compared with.

    Parameters
    ----------
    course : Course
    store : Store
        The course's.
    bank : Bank
        The items that the course can use.
    """
    drawn = store.quiz_names()
    plans = {
        path.stem
        for folder in (course.blueprints, builtin_root() / "blueprints")
        for path in folder.glob("*.yaml")
    }
    named = course.policies.named
    return CourseFacts(
        students=frozenset(student.id for student in course.roster(tolerant=True).students),
        code=frozenset(bank.code_ids()),
        quizzes=frozenset(plans.union(drawn)),
        quiz_rules={name: _rules(course, store, name, drawn) for name in named if name in plans.union(drawn)},
    )


def _rules(course: Course, store: Store, name: str, drawn: Collection[str]) -> Mapping[str, QuizRules]:
    if name in drawn:
        return {quiz.student: quiz.rules for quiz in store.quizzes(name)}
    path = course.blueprints / f"{name}.yaml"
    try:
        return {"": read_blueprint(path).blueprint.rules} if path.is_file() else {}
    except InputError:  # `grade quiz check` tells what is wrong with a plan
        return {}


# ----------------------------------------------------------------------------------------------------
# Groups, weights and other sums that don't come out.


def group_findings(policies: Policies) -> Iterator[Finding]:
    """Yield what is wrong with groups: unknown, empty, all dropped, weights that aren't 100 in all."""
    for one in PlacedRules.all(policies):
        name = one.rules.group
        if name is not None and name not in policies.groups:
            known = did_you_mean(name, policies.groups, "; name it under `groups`")
            yield one.place("group"), f"there is no group '{name}'{known}"
    weights = [group.weight for group in policies.groups.values() if group.weight is not None]
    total = sum(weights, Decimal(0))
    if weights and total != 100:
        yield ("policies", "groups"), f"the weights are {plain(total)} in all, not 100"
    for name, group in policies.groups.items():
        loc = ("policies", "groups", name)
        members = [key for key in policies.named if policies.rules_of(key).group == name]
        by_default = policies.rules_of("default").group == name
        if not members and not by_default:
            yield loc, "no assignment is in this group"
        elif group.drop_lowest and not by_default and group.drop_lowest >= len(members):
            dropped = group.drop_lowest
            what = f"{dropped} of {len(members)} {agree(dropped, 'are')} dropped: one always stays"
            yield (*loc, "drop_lowest"), what
        if weights and group.weight is None:
            yield loc, "other groups have a weight and this one has none: it isn't part of the percent"
    if weights:
        for one in PlacedRules.all(policies):
            if one.rules.group is None and one.name != "default":
                yield one.loc, "groups have weights and this is in none: it isn't part of the percent"


def idle_findings(policies: Policies) -> Iterator[Finding]:
    """Yield the rules that can't do anything."""
    all_rules = [policies.rules_of(name) for name in policies.assignments]
    if policies.late_days and not any(rules.late for rules in all_rules):
        yield ("policies", "late_days"), "late work loses nothing anywhere: late days change nothing"
    if policies.marked_late and not any(rules.late for rules in all_rules):
        yield ("policies", "marked_late"), "late work loses nothing anywhere: this changes nothing"
    if policies.missing == "zero":
        for name in policies.named:
            if policies.rules_of(name).due is None:
                what = "missing work counts as 0 once it is due, and this has no `due`: it stays blank"
                yield ("policies", "assignments", name), what
        if not policies.named:
            yield (
                ("policies", "missing"),
                "no assignment is named under `assignments`: none counts as missing",
            )


# ----------------------------------------------------------------------------------------------------
# Quizzes whose own rules say something else than the course's.

_SAME = timedelta(minutes=1)  # 23:59 and midnight are meant to be the same


def quiz_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    """Yield the deadlines and attempts of quizzes that contradict the course's rules."""
    for one in PlacedRules.all(policies):
        drawn = facts.quiz_rules.get(one.name, {})
        if one.rules.due is not None:
            yield from _deadlines(one, drawn, policies)
        falling = any(rules.credit[-1] < 1 for rules in drawn.values())
        if falling and one.rules.attempts.which in ("average", "decaying"):
            what = (
                f"the quiz gives later attempts less, and `which: {one.rules.attempts.which}` does so again"
            )
            yield one.place("attempts"), what


def _deadlines(one: PlacedRules, drawn: Mapping[str, QuizRules], policies: Policies) -> Iterator[Finding]:
    apart: dict[datetime, list[str]] = {}
    for student, rules in drawn.items():
        terms = terms_of(policies, student, one.name)
        # More time in the course is more time for the quiz too, so nothing contradicts it.
        if rules.deadline is not None and terms.extended is None and _differs(rules.deadline, terms):
            apart.setdefault(rules.deadline, []).append(student)
    for deadline, students in apart.items():
        whose = (
            f" for {len(students)} of {count_noun(len(drawn), 'student')}"
            if len(students) < len(drawn)
            else ""
        )
        terms = terms_of(policies, "", one.name)
        what = f"due {one.rules.due} here, but the quiz itself is open until {_text(deadline, terms)}{whose}"
        yield one.place("due"), what


def _differs(deadline: datetime, terms: StudentDeadlines) -> bool:
    """Tell whether a deadline is neither when work is due nor when it is last taken."""
    moments = [moment for moment in (terms.due, terms.closes) if moment is not None]
    return all(abs(deadline - moment) > _SAME for moment in moments)


def _text(deadline: datetime, terms: StudentDeadlines) -> str:
    return f"{deadline.astimezone(terms.zone):%Y-%m-%d %H:%M}"


# ----------------------------------------------------------------------------------------------------
# Dates of one assignment that don't fit together.


def date_findings(policies: Policies) -> Iterator[Finding]:
    """Yield the dates that contradict one another, and those at which clocks change."""
    for one in PlacedRules.all(policies):
        yield from _order(one, policies)
        yield from _release(one, policies)
        yield from _without_due(one)
        for key in ("opens", "due", "closes", "release"):
            time = getattr(one.rules, key)
            trouble = time.trouble(policies.zone) if isinstance(time, LocalTime) else None
            if trouble is not None:
                yield one.place(key), trouble
    for index, extension in enumerate(policies.extensions):
        trouble = extension.due.trouble(policies.zone) if extension.due else None
        if trouble is not None:
            yield ("policies", "extensions", index, "due"), trouble


def _order(one: PlacedRules, policies: Policies) -> Iterator[Finding]:
    opens, due, closes = one.rules.opens, one.rules.due, one.rules.closes
    zone = policies.zone
    if due and closes and due.ends(zone) > closes.ends(zone):
        yield one.place("due"), f"due {due}, after it closes ({closes}): nobody can use the time in between"
    if opens and due and opens.begins(zone) >= due.ends(zone):
        yield one.place("opens"), f"opens {opens}, after it is due ({due})"
    if opens and closes and opens.begins(zone) >= closes.ends(zone):
        yield one.place("opens"), f"opens {opens}, after it closes ({closes}): no work counts"


def _release(one: PlacedRules, policies: Policies) -> Iterator[Finding]:
    release, due, closes = one.rules.release, one.rules.due, one.rules.closes
    where = one.place("release")
    if release == "at due" and due is None and one.name != "default":
        yield where, "feedback is released at due, but no `due` is given: it is never shown"
    if release == "after closes" and closes is None and one.name != "default":
        yield where, "feedback is released after closes, but no `closes` is given: it is never shown"
    if not isinstance(release, LocalTime):
        return
    for word, time in (("due", due), ("closed", closes)):
        if time is not None and release.begins(policies.zone) < time.ends(policies.zone):
            last = "it is due" if word == "due" else "it closes"
            yield (
                where,
                f"feedback is released {release}, before {last} ({time}): whoever waits sees it first",
            )
            return


def _without_due(one: PlacedRules) -> Iterator[Finding]:
    if one.rules.due is not None or one.name == "default":
        return
    if one.rules.late is not None:
        yield one.place("late"), "nothing is late without a `due` date"
    if one.rules.grace and "grace" in one.own:
        yield one.place("grace"), "there is nothing to be late for without a `due` date"


# ----------------------------------------------------------------------------------------------------
# Extensions and excuses that mean nobody, nothing, or nothing new.


def name_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    """Yield the assignments that nothing in the course is called."""
    for name in policies.named:
        if name not in facts.assignments:
            yield (
                ("policies", "assignments", name),
                _unknown("quiz or code exercise", name, facts.assignments),
            )


def people_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    """Yield what is wrong with extensions and excuses."""
    seen: set[tuple[str, str]] = set()
    for index, excuse in enumerate(policies.excused):
        loc = ("policies", "excused", index)
        yield from _names(loc, excuse.student, excuse.assignment, facts)
        if (excuse.student, excuse.assignment) in seen:
            yield loc, f"{excuse.student} is excused from {excuse.assignment} twice"
        seen.add((excuse.student, excuse.assignment))
    for index, extension in enumerate(policies.extensions):
        loc = ("policies", "extensions", index)
        yield from _names(loc, extension.student, extension.assignment, facts)
        if extension.assignment is None:
            yield from _for_all(loc, extension, policies)
        elif extension.assignment in policies.excused_of(extension.student):
            yield (
                loc,
                f"{extension.student} is excused from {extension.assignment}: more time changes nothing",
            )
        else:
            yield from _for_one(loc, extension, extension.assignment, policies)


def _names(
    loc: tuple[str, str, int], student: str, assignment: str | None, facts: CourseFacts
) -> Iterator[Finding]:
    if facts.students and student not in facts.students:
        yield (*loc, "student"), _unknown("student of the roster", student, facts.students)
    if assignment is not None and assignment not in facts.assignments:
        yield (*loc, "assignment"), _unknown("quiz or code exercise", assignment, facts.assignments)


def _unknown(what: str, name: str, known: Collection[str]) -> str:
    return f"'{name}' is no {what}" + did_you_mean(name, sorted(known))


def _for_one(
    loc: Loc, extension: DeadlineExtension, assignment: str, policies: Policies
) -> Iterator[Finding]:
    due = policies.rules_of(assignment).due
    if due is None:
        yield loc, f"{assignment} has no due date: more time changes nothing"
    elif extended_due(due, extension).ends(policies.zone) <= due.ends(policies.zone):
        where = (*loc, "due")
        yield where, f"{extension.due} isn't after the due date of {assignment} ({due}): it changes nothing"


def _for_all(loc: Loc, extension: DeadlineExtension, policies: Policies) -> Iterator[Finding]:
    dates = [due for name in policies.assignments if (due := policies.rules_of(name).due) is not None]
    if not dates:
        yield loc, "no assignment has a due date: more time changes nothing"
    elif extension.due is not None and all(
        extension.due.ends(policies.zone) <= due.ends(policies.zone) for due in dates
    ):
        yield (*loc, "due"), f"{extension.due} isn't after any due date: it changes nothing"


# ----------------------------------------------------------------------------------------------------
# All contradictions of a course, in the order of the lines of course.yaml.


def find_contradictions(path: Path, policies: Policies, facts: CourseFacts) -> list[Diagnostic]:
    """Return what in a course's rules can't be meant.

    Parameters
    ----------
    path : Path
        The course.yaml that `policies` come from; it says where everything stands.
    policies : Policies
    facts : CourseFacts

    Returns
    -------
    list of Diagnostic
        In the order of their lines.
    """
    from engine.text.schema_errors import in_order
    from engine.text.yaml import read_yaml

    document = read_yaml(path)
    findings = [
        *name_findings(policies, facts),
        *date_findings(policies),
        *people_findings(policies, facts),
        *group_findings(policies),
        *idle_findings(policies),
        *quiz_findings(policies, facts),
    ]
    # A fault of a whole entry is shown at its name, one of a single value at that.
    return in_order([document.diagnostic(loc, message, key=len(loc) <= 3) for loc, message in findings])
