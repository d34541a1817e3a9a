"""Dates of one assignment that don't fit together."""

from __future__ import annotations

from collections.abc import Iterator

from engine.course.contradictions.facts import Finding, Rules
from engine.course.policies.schema import Policies
from engine.course.policies.times import LocalTime

__all__ = ["date_findings"]


def date_findings(policies: Policies) -> Iterator[Finding]:
    """Yield the dates that contradict one another, and those at which clocks change."""
    for one in Rules.all(policies):
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


def _order(one: Rules, policies: Policies) -> Iterator[Finding]:
    opens, due, closes = one.rules.opens, one.rules.due, one.rules.closes
    zone = policies.zone
    if due and closes and due.ends(zone) > closes.ends(zone):
        yield one.place("due"), f"due {due}, after it closes ({closes}): nobody can use the time in between"
    if opens and due and opens.begins(zone) >= due.ends(zone):
        yield one.place("opens"), f"opens {opens}, after it is due ({due})"
    if opens and closes and opens.begins(zone) >= closes.ends(zone):
        yield one.place("opens"), f"opens {opens}, after it closes ({closes}): no work counts"


def _release(one: Rules, policies: Policies) -> Iterator[Finding]:
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


def _without_due(one: Rules) -> Iterator[Finding]:
    if one.rules.due is not None or one.name == "default":
        return
    if one.rules.late is not None:
        yield one.place("late"), "nothing is late without a `due` date"
    if one.rules.grace and "grace" in one.own:
        yield one.place("grace"), "there is nothing to be late for without a `due` date"
