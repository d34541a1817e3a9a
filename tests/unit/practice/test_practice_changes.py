"""What is told to have changed between two reports."""

from __future__ import annotations

from engine.model import Check, GradeReport, Outcome, Verdict
from engine.practice.session import CheckChanges, compare


def report(score: float | None, **verdicts: Verdict) -> GradeReport:
    checks = tuple(Check(name, verdict, 0, 0) for name, verdict in verdicts.items())
    return GradeReport("softmax", "v", Outcome.PARTIAL, score, 10, checks=checks)


def test_the_first_report_has_nothing_to_compare_with() -> None:
    assert compare(None, report(3, values=Verdict.PASSED)) == CheckChanges(is_first=True)


def test_checks_that_began_or_ceased_to_pass_are_told_in_the_rubrics_order() -> None:
    before = report(3, a=Verdict.PASSED, b=Verdict.FAILED, c=Verdict.SKIPPED, d=Verdict.PASSED)
    after = report(4, a=Verdict.TIMED_OUT, b=Verdict.PASSED, c=Verdict.PASSED, d=Verdict.PASSED)
    assert compare(before, after) == CheckChanges(("b", "c"), ("a",), 3)


def test_a_skip_that_becomes_a_failure_is_no_change_of_what_passes() -> None:
    changes = compare(report(0, a=Verdict.SKIPPED), report(0, a=Verdict.FAILED))
    assert (changes.now_pass, changes.no_longer_pass) == ((), ())


def test_a_check_that_the_other_report_lacks_counts_as_not_passed() -> None:
    changes = compare(report(0, a=Verdict.PASSED), report(0, b=Verdict.PASSED))
    assert changes.as_json() == {"now_pass": ["b"], "no_longer_pass": [], "score_before": 0}
