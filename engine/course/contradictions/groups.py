"""Groups, weights and other sums that don't come out."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from engine.course.contradictions.facts import Finding, Rules
from engine.course.policies.points import plain
from engine.course.policies.schema import Policies
from engine.plurals import agree
from engine.spec.wording import did_you_mean

__all__ = ["group_findings", "idle_findings"]


def group_findings(policies: Policies) -> Iterator[Finding]:
    """Yield what is wrong with groups: unknown, empty, all dropped, weights that aren't 100 in all."""
    for one in Rules.all(policies):
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
        for one in Rules.all(policies):
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
