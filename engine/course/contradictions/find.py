"""All contradictions of a course, in the order of the lines of course.yaml."""

from __future__ import annotations

from pathlib import Path

from engine.course.contradictions.dates import date_findings
from engine.course.contradictions.facts import Facts
from engine.course.contradictions.groups import group_findings, idle_findings
from engine.course.contradictions.people import name_findings, people_findings
from engine.course.contradictions.quizzes import quiz_findings
from engine.course.policies.schema import Policies
from engine.errors import Diagnostic

__all__ = ["find_contradictions"]


def find_contradictions(path: Path, policies: Policies, facts: Facts) -> list[Diagnostic]:
    """Return what in a course's rules can't be meant.

    Parameters
    ----------
    path : Path
        The course.yaml that `policies` come from; it says where everything stands.
    policies : Policies
    facts : Facts

    Returns
    -------
    list of Diagnostic
        In the order of their lines.
    """
    from engine.spec.validation import in_order
    from engine.spec.yaml_source import read_yaml

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
