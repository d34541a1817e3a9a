"""What single students were given on the site or by a command, as entries of the course's rules.

An allowance counts exactly as the same entry in ``course.yaml``: both become one set of rules, which
everything that asks for rules gets.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from engine.course.policies import DeadlineExtension, ExcusedAssignment, ExtraTime, Policies
from engine.errors import UsageError
from engine.store.allowances import Allowance, AllowanceKind


def with_allowances(policies: Policies, allowances: Iterable[Allowance]) -> Policies:
    """Return a course's rules with the allowances that weren't withdrawn, after those of ``course.yaml``."""
    entries: dict[str, list[Any]] = {"extensions": [], "excused": [], "extra_time": []}
    for allowance in allowances:
        if allowance.withdrawn is None:
            name, entry = rule_of(allowance)
            entries[name].append(entry)
    more = {name: (*getattr(policies, name), *added) for name, added in entries.items() if added}
    if not more:
        return policies
    # Built anew, and not copied: what a copy has looked up already would be that of the old rules.
    values = {name: getattr(policies, name) for name in type(policies).model_fields} | more
    return Policies.model_construct(_fields_set=policies.model_fields_set | set(more), **values)


def rule_of(allowance: Allowance) -> tuple[str, DeadlineExtension | ExcusedAssignment | ExtraTime]:
    """Return the key under ``policies`` and the entry that an allowance stands for.

    Raises
    ------
    UsageError
        It can't be such an entry: a date that there isn't, an excuse from nothing in particular.
    """
    who = {"student": allowance.student}
    if allowance.assignment is not None:
        who["assignment"] = allowance.assignment
    try:
        if allowance.kind is AllowanceKind.EXCUSE:
            return "excused", ExcusedAssignment.model_validate(who)
        if allowance.kind is AllowanceKind.TIME:
            percent = None if allowance.percent is None else Decimal(repr(allowance.percent))
            return "extra_time", ExtraTime.model_validate({**who, "percent": percent})
        time = {"due": allowance.due, "days": allowance.days}
        rules = {key: value for key, value in time.items() if value is not None}
        return "extensions", DeadlineExtension.model_validate({**who, **rules})
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(key) for key in fault["loc"]) or allowance.kind.value
        raise UsageError(
            f"this can't be allowed: {fault['msg']}", where=place, next_step="see: grade course allow --help"
        ) from None
