"""Find contradictions in a course's rules: rules that can't be meant, and rules that change nothing.

The schema of ``course.yaml`` says whether a rule is well formed; here the rules are compared with each other
and with what there is in the course (:class:`CourseFacts`): its roster, store, quiz plans and bank. Every
finding is a line of the file, for ``grade course check``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from engine.course.allowance_rules import rule_of, with_allowances
from engine.course.course import Course
from engine.course.policies import DEFAULT, AssignmentRules, DeadlineExtension, LocalTime, Policies
from engine.errors import Diagnostic, InputError
from engine.items.bank import Bank, builtin_root
from engine.marks.late_work import StudentDeadlines, extended_due, local_time, plain, terms_of
from engine.model import QuizRules
from engine.quiz.blueprint import read_blueprint
from engine.store import Store
from engine.store.allowances import Allowance
from engine.text.words import agree, count_noun, did_you_mean
from engine.text.yaml_errors import Loc

Finding = tuple[Loc, str]
"""A place in course.yaml, and what is wrong there."""


@dataclass(frozen=True)
class CourseFacts:
    """What the rules of a course are compared with.

    Parameters
    ----------
    students : frozenset of str
        Ids of the roster; empty where there is none.
    code : frozenset of str
        Ids of code items.
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
    """An assignment's rules, and where each of them is written."""

    name: str
    rules: AssignmentRules
    own_keys: frozenset[str]

    def place(self, key: str) -> Loc:
        """Return where a key is written: here, or in ``default``."""
        return ("policies", "assignments", self.name if key in self.own_keys else DEFAULT, key)

    @property
    def loc(self) -> Loc:
        """Where the assignment is written."""
        return ("policies", "assignments", self.name)

    @classmethod
    def all(cls, policies: Policies) -> Iterator[PlacedRules]:
        """Yield all assignments, ``default`` among them, with what they take from it."""
        for name, rules in policies.assignments.items():
            yield cls(name, policies.rules_of(name), frozenset(rules.model_fields_set))


def facts_of(course: Course, store: Store, bank: Bank) -> CourseFacts:
    """Return what the rules of a course are compared with.

    Parameters
    ----------
    course : Course
    store : Store
        The course's.
    bank : Bank
        Of the items that the course can use.
    """
    quiz_names = store.quiz_names()
    quizzes = {
        path.stem
        for folder in (course.blueprints, builtin_root() / "blueprints")
        for path in folder.glob("*.yaml")
    }
    quizzes.update(quiz_names)
    names = {name for name in course.policies.named if name in quizzes}
    # An extension moves a quiz's own deadline, also where the course has no rules for the quiz.
    for extension in with_allowances(course.policies, store.allowances.current()).extensions:
        names |= set(quiz_names) if extension.assignment is None else {extension.assignment} & quizzes
    return CourseFacts(
        # Tolerant: a faulty row of the roster must not hide contradictions in the rules.
        students=frozenset(student.id for student in course.roster(tolerant=True).students),
        code=frozenset(bank.code_ids()),
        quizzes=frozenset(quizzes),
        quiz_rules={name: _rules(course, store, name, quiz_names) for name in sorted(names)},
    )


def _rules(course: Course, store: Store, name: str, quiz_names: Collection[str]) -> Mapping[str, QuizRules]:
    if name in quiz_names:
        return {quiz.student: quiz.rules for quiz in store.quizzes(name)}
    path = course.blueprints / f"{name}.yaml"
    try:
        return {"": read_blueprint(path).blueprint.rules} if path.is_file() else {}  # a plan is for everybody
    except InputError:  # `grade quiz check` reports faults of plans
        return {}


def _limit_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    for placed in PlacedRules.all(policies):
        hidden = placed.rules.limits.hidden_checks
        where = placed.place("limits")
        if placed.name != DEFAULT:
            if hidden == "after due" and placed.rules.due is None:
                yield where, "hidden checks are shown after due, but no `due` is given: they are never shown"
            if hidden == "after closes" and placed.rules.closes is None:
                yield where, "hidden checks are shown after closes, but no `closes` is given: they never are"
            if placed.name in facts.quizzes and "limits" in placed.own_keys:
                yield where, "limits are for code exercises, and this is a quiz: its blueprint has `attempts`"


def _extra_time_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    for index, entry in enumerate(policies.extra_time):
        loc = ("policies", "extra_time", index)
        yield from _names(loc, entry.student, entry.assignment, facts)
        if entry.assignment is None:
            continue
        rules = facts.quiz_rules.get(entry.assignment, {})
        if entry.assignment in facts.code or (rules and all(r.time_limit is None for r in rules.values())):
            yield loc, f"{entry.assignment} has no time limit: extra time changes nothing"


def _group_findings(policies: Policies) -> Iterator[Finding]:
    """Yield faults of groups: unknown, empty, everything dropped, weights that don't add up to 100."""
    for placed in PlacedRules.all(policies):
        name = placed.rules.group
        if name is not None and name not in policies.groups:
            near = did_you_mean(name, policies.groups, "; name it under `groups`")
            yield placed.place("group"), f"there is no group '{name}'{near}"
    weights = [group.weight for group in policies.groups.values() if group.weight is not None]
    total = sum(weights, Decimal(0))  # exact: 33.3 + 33.3 + 33.4 is 100
    if weights and total != 100:
        yield ("policies", "groups"), f"the weights are {plain(total)} together, not 100"
    for name, group in policies.groups.items():
        loc = ("policies", "groups", name)
        members = [key for key in policies.named if policies.rules_of(key).group == name]
        # Assignments that aren't named follow `default`: how many there will be isn't known.
        by_default = policies.rules_of("default").group == name
        if not members and not by_default:
            yield loc, "no assignment is in this group"
        elif group.drop_lowest and not by_default and group.drop_lowest >= len(members):
            count = group.drop_lowest
            message = f"{count} of {len(members)} {agree(count, 'are')} dropped: one is always kept"
            yield (*loc, "drop_lowest"), message
        if weights and group.weight is None:
            yield (
                loc,
                "other groups have a weight and this one has none: it doesn't count towards the percentage",
            )
    if weights:
        for placed in PlacedRules.all(policies):
            if placed.rules.group is None and placed.name != "default":
                yield (
                    placed.loc,
                    "groups have weights and this is in none: it doesn't count towards the percentage",
                )


def _idle_findings(policies: Policies) -> Iterator[Finding]:
    all_rules = [policies.rules_of(name) for name in policies.assignments]
    if policies.late_days and not any(rules.late for rules in all_rules):
        yield ("policies", "late_days"), "late work loses nothing anywhere: late days change nothing"
    if policies.marked_late and not any(rules.late for rules in all_rules):
        yield ("policies", "marked_late"), "late work loses nothing anywhere: this changes nothing"
    if policies.missing == "zero":
        for name in policies.named:
            if policies.rules_of(name).due is None:
                message = "missing work counts as 0 once it is due, and this has no `due`: it stays blank"
                yield ("policies", "assignments", name), message
        if not policies.named:
            yield (
                ("policies", "missing"),
                "no assignment is named under `assignments`: none counts as missing",
            )


_SAME = timedelta(minutes=1)  # 23:59 and midnight are meant to be the same


def _quiz_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    """Yield the deadlines and attempts in quizzes' own rules that contradict the course's rules."""
    for placed in PlacedRules.all(policies):
        quiz_rules = facts.quiz_rules.get(placed.name, {})
        if placed.rules.due is not None:
            yield from _deadlines(placed, quiz_rules, policies)
        # The last share tells: credit never rises from one attempt to the next.
        falling = any(rules.credit[-1] < 1 for rules in quiz_rules.values())
        if falling and placed.rules.attempts.which in ("average", "decaying"):
            which = placed.rules.attempts.which
            yield (
                placed.place("attempts"),
                f"the quiz gives later attempts less, and `which: {which}` does so again",
            )


def _deadlines(
    placed: PlacedRules, quiz_rules: Mapping[str, QuizRules], policies: Policies
) -> Iterator[Finding]:
    differing: dict[datetime, list[str]] = {}
    for student, rules in quiz_rules.items():
        terms = terms_of(policies, student, placed.name)
        # More time in the course is more time for the quiz too, so nothing contradicts it.
        if rules.deadline is not None and terms.extended is None and _differs(rules.deadline, terms):
            differing.setdefault(rules.deadline, []).append(student)
    for deadline, students in differing.items():
        everybody = count_noun(len(quiz_rules), "student")
        part = f" for {len(students)} of {everybody}" if len(students) < len(quiz_rules) else ""
        terms = terms_of(policies, "", placed.name)
        until = f"{deadline.astimezone(terms.zone):%Y-%m-%d %H:%M}"
        yield (
            placed.place("due"),
            f"due {placed.rules.due} here, but the quiz itself is open until {until}{part}",
        )


def _differs(deadline: datetime, terms: StudentDeadlines) -> bool:
    """Return whether a deadline is neither the due date nor the closing time."""
    moments = [moment for moment in (terms.due, terms.closes) if moment is not None]
    return all(abs(deadline - moment) > _SAME for moment in moments)


def _date_findings(policies: Policies) -> Iterator[Finding]:
    """Yield the dates that contradict each other, and those at which clocks change."""
    for placed in PlacedRules.all(policies):
        yield from _order(placed, policies)
        yield from _release(placed, policies)
        yield from _without_due(placed)
        for key in ("opens", "due", "closes", "release"):
            time = getattr(placed.rules, key)
            trouble = time.trouble(policies.zone) if isinstance(time, LocalTime) else None
            if trouble is not None:
                yield placed.place(key), trouble
    for index, extension in enumerate(policies.extensions):
        trouble = extension.due.trouble(policies.zone) if extension.due else None
        if trouble is not None:
            yield ("policies", "extensions", index, "due"), trouble


def _order(placed: PlacedRules, policies: Policies) -> Iterator[Finding]:
    opens, due, closes = placed.rules.opens, placed.rules.due, placed.rules.closes
    zone = policies.zone
    if due and closes and due.ends(zone) > closes.ends(zone):
        yield (
            placed.place("due"),
            f"due {due}, after it closes ({closes}): nobody can use the time in between",
        )
    if opens and due and opens.begins(zone) >= due.ends(zone):
        yield placed.place("opens"), f"opens {opens}, after it is due ({due})"
    if opens and closes and opens.begins(zone) >= closes.ends(zone):
        yield placed.place("opens"), f"opens {opens}, after it closes ({closes}): no work counts"


def _release(placed: PlacedRules, policies: Policies) -> Iterator[Finding]:
    release, due, closes = placed.rules.release, placed.rules.due, placed.rules.closes
    where = placed.place("release")
    if release == "at due" and due is None and placed.name != "default":
        yield where, "feedback is released at due, but no `due` is given: it is never shown"
    if release == "after closes" and closes is None and placed.name != "default":
        yield where, "feedback is released after closes, but no `closes` is given: it is never shown"
    if not isinstance(release, LocalTime):
        return
    # Waiting for the release would pay: students could hand in with the feedback before them.
    for word, time in (("due", due), ("closed", closes)):
        if time is not None and release.begins(policies.zone) < time.ends(policies.zone):
            last = "it is due" if word == "due" else "it closes"
            yield (
                where,
                f"feedback is released {release}, before {last} ({time}): whoever waits can use it",
            )
            return


def _without_due(placed: PlacedRules) -> Iterator[Finding]:
    if placed.rules.due is not None or placed.name == "default":
        return
    if placed.rules.late is not None:
        yield placed.place("late"), "nothing is late without a `due` date"
    if placed.rules.grace and "grace" in placed.own_keys:
        yield placed.place("grace"), "there is nothing to be late for without a `due` date"


def _name_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    for name in policies.named:
        if name not in facts.assignments:
            yield (
                ("policies", "assignments", name),
                _unknown("quiz or code exercise", name, facts.assignments),
            )


def _people_findings(policies: Policies, facts: CourseFacts) -> Iterator[Finding]:
    """Yield extensions and excuses for nobody, for nothing, or without any effect."""
    excused: set[tuple[str, str]] = set()
    for index, excuse in enumerate(policies.excused):
        loc = ("policies", "excused", index)
        yield from _names(loc, excuse.student, excuse.assignment, facts)
        if (excuse.student, excuse.assignment) in excused:
            yield loc, f"{excuse.student} is excused from {excuse.assignment} twice"
        excused.add((excuse.student, excuse.assignment))
    for index, extension in enumerate(policies.extensions):
        loc = ("policies", "extensions", index)
        yield from _names(loc, extension.student, extension.assignment, facts)
        # An extension for an excused assignment changes nothing, and one for all may still change others.
        if extension.assignment is None:
            yield from _for_all(loc, extension, policies, facts)
        elif extension.assignment in policies.excused_of(extension.student):
            yield (
                loc,
                f"{extension.student} is excused from {extension.assignment}: more time changes nothing",
            )
        else:
            yield from _for_one(loc, extension, extension.assignment, policies, facts)


def _names(
    loc: tuple[str, str, int], student: str, assignment: str | None, facts: CourseFacts
) -> Iterator[Finding]:
    if facts.students and student not in facts.students:
        yield (*loc, "student"), _unknown("student", student, facts.students, " in the roster")
    if assignment is not None and assignment not in facts.assignments:
        yield (*loc, "assignment"), _unknown("quiz or code exercise", assignment, facts.assignments)


def _unknown(noun: str, name: str, known: Collection[str], place: str = "") -> str:
    return f"there is no {noun} '{name}'{place}" + did_you_mean(name, sorted(known))


def _moved_times(student: str, assignment: str, policies: Policies, facts: CourseFacts) -> list[LocalTime]:
    """Return what an extension moves: the due date, or without one all other ends of the assignment."""
    rules = policies.rules_of(assignment)
    if rules.due is not None:
        return [rules.due]
    by_student = facts.quiz_rules.get(assignment, {})
    quiz = by_student.get(student) or by_student.get("")
    deadline = None if quiz is None or quiz.deadline is None else local_time(quiz.deadline, policies.zone)
    return [time for time in (rules.closes, deadline) if time is not None]


def _for_one(
    loc: Loc, extension: DeadlineExtension, assignment: str, policies: Policies, facts: CourseFacts
) -> Iterator[Finding]:
    times = _moved_times(extension.student, assignment, policies, facts)
    zone = policies.zone
    if not times:
        yield loc, f"{assignment} has no due date: more time changes nothing"
    elif all(extended_due(time, extension).ends(zone) <= time.ends(zone) for time in times):
        what = "due date" if policies.rules_of(assignment).due is not None else "end"
        where = (*loc, "due")
        yield (
            where,
            f"{extension.due} isn't after the {what} of {assignment} ({times[0]}): it changes nothing",
        )


def _for_all(
    loc: Loc, extension: DeadlineExtension, policies: Policies, facts: CourseFacts
) -> Iterator[Finding]:
    names = dict.fromkeys([*policies.assignments, *facts.quiz_rules])
    dates = [time for name in names for time in _moved_times(extension.student, name, policies, facts)]
    if not dates:
        yield loc, "no assignment has a due date: more time changes nothing"
    elif extension.due is not None and all(
        extension.due.ends(policies.zone) <= due.ends(policies.zone) for due in dates
    ):
        yield (*loc, "due"), f"{extension.due} isn't after any due date: it changes nothing"


def allowance_contradictions(
    where: str, policies: Policies, allowances: Sequence[Allowance], facts: CourseFacts
) -> list[Diagnostic]:
    """Return what single students were allowed and that can't be meant, or that changes nothing.

    Parameters
    ----------
    where : str
        The store, for the place; the line is the allowance's number.
    policies : Policies
        Of course.yaml, without allowances.
    allowances : sequence of Allowance
        Those that hold.
    facts : CourseFacts
    """
    merged = with_allowances(policies, allowances)
    # Each allowance follows the entries of its kind, in the order in which they were given.
    counts = {name: len(getattr(policies, name)) for name in ("extensions", "excused", "extra_time")}
    numbers: dict[Loc, int] = {}
    for allowance in allowances:
        name, _ = rule_of(allowance)
        numbers[name, counts[name]] = allowance.id
        counts[name] += 1
    findings = [*_people_findings(merged, facts), *_extra_time_findings(merged, facts)]
    return [
        Diagnostic(where, numbers[loc[1], loc[2]], 1, f"allowance {numbers[loc[1], loc[2]]}: {message}")
        for loc, message in findings
        if (loc[1], loc[2]) in numbers
    ]


def find_contradictions(source: Path | bytes, policies: Policies, facts: CourseFacts) -> list[Diagnostic]:
    """Return the contradictions in a course's rules.

    Parameters
    ----------
    source : Path or bytes
        The course.yaml that `policies` come from, for the places: the file, or what is to become one.
    policies : Policies
    facts : CourseFacts

    Returns
    -------
    list of Diagnostic
        In the order of their lines.
    """
    from engine.text.yaml import in_order, read_yaml

    # Read again for the places: the validated settings know nothing of lines.
    document = read_yaml(source)
    findings = [
        *_name_findings(policies, facts),
        *_date_findings(policies),
        *_people_findings(policies, facts),
        *_extra_time_findings(policies, facts),
        *_group_findings(policies),
        *_idle_findings(policies),
        *_quiz_findings(policies, facts),
        *_limit_findings(policies, facts),
    ]
    # A fault of a whole entry is shown at its name, one of a single value at that value.
    return in_order([document.diagnostic(loc, message, key=len(loc) <= 3) for loc, message in findings])
