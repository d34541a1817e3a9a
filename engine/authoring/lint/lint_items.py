"""Lint one item, or a whole bank.

Lint proves by recomputation and by trying that an item can be served: it draws variants, answers them in
every way, and runs the solutions of code exercises. What is wrong is a finding with its place in the file;
nothing is raised for a fault of an item, so that one broken file doesn't hide the faults of the others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from engine.authoring.lint.rules import RULES, STYLE_RULES, LintRule
from engine.authoring.lint.subject import FindingSeverity, LintFinding, LintReport, LintSubject
from engine.errors import Diagnostic, InputError, SoftmarkError
from engine.items import ProblemSpec, item_version
from engine.items.bank import Bank
from engine.parallel import on_all_cores
from engine.text.yaml import read_yaml

DEFAULT_SEEDS = 200  # as many as an undeclared family needs keys: fewer can't show that it has them
_LEAST_ITEMS = 6  # for fewer, starting processes takes longer than it saves


def lint_item(
    spec: ProblemSpec,
    path: Path | None,
    bank: Bank,
    *,
    seeds: int = DEFAULT_SEEDS,
    strict: bool = False,
    mutant_s: float | None = None,
    watch: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
) -> LintReport:
    """Lint one item.

    Parameters
    ----------
    spec : ProblemSpec
        As the loader gave it.
    path : Path or None
        Its file, for the places of findings and the files of a code exercise.
    bank : Bank
        Holds the registry of known mistakes, the syllabus and the terms.
    seeds : int
        How many variants are drawn and answered, seeds 0 to ``seeds - 1``.
    strict : bool
        Apply matters of style too: they give warnings.
    mutant_s : float, optional
        Try generated mutants of a code exercise for so many seconds; without it none is made.
    watch : callable
        Takes how many mutants there are, and returns what is called after each.

    Returns
    -------
    LintReport
        Errors first, then by line.
    """
    # faults of the YAML were reported by the loader: here only places are wanted
    document = read_yaml(path, keep_going=True) if path is not None and path.exists() else None
    subject = LintSubject(
        spec=spec,
        version=item_version(spec, path),
        registry=bank.registry(),
        seeds=seeds,
        path=path,
        document=document,
        syllabus=frozenset(name for group in bank.syllabus().values() for name in group),
        terms=bank.terms(),
        strict=strict,
        mutant_s=mutant_s,
        watch=watch,
    )
    rules = (*RULES, *STYLE_RULES) if strict else RULES
    findings = [finding for rule in rules for finding in _run(rule, subject)]
    findings.sort(key=lambda f: (f.severity is not FindingSeverity.ERROR, f.line or 0, f.column or 0))
    return LintReport(spec.id, tuple(dict.fromkeys(findings)), subject.facts)


def _run(rule: LintRule, subject: LintSubject) -> Iterator[LintFinding]:
    """Apply one rule; an error that the broken item makes it run into is a finding, too."""
    try:
        for finding in rule.check(subject):
            yield replace(finding, rule=rule.name)
    except SoftmarkError as error:
        fault = subject.fault(error.what, got=error.got, next_step=error.next_step)
        yield replace(fault, rule=rule.name)


def lint_bank(
    bank: Bank,
    items: Sequence[str] | None = None,
    *,
    seeds: int = DEFAULT_SEEDS,
    strict: bool = False,
    progress: Callable[[LintReport], None] | None = None,
    mutant_s: float | None = None,
    watch: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
) -> list[LintReport]:
    """Lint the items of a bank; a file that can't be loaded has a report with its faults.

    Parameters
    ----------
    bank : Bank
    items : sequence of str, optional
        Item ids; all of the bank if left out.
    seeds : int
    strict : bool
    progress : callable, optional
        Called with each report as it is done.
    mutant_s, watch
        As in :func:`lint_item`.
    """
    names = list(bank.ids() if items is None else items)

    def lint(item: str) -> LintReport:
        return _lint_of(bank, item, seeds, strict, mutant_s, watch)

    def announce(finished: Mapping[str, LintReport]) -> None:
        for report in finished.values():
            if progress is not None:
                progress(report)

    # Solutions run in the process of their exercise: not in a fork of one whose torch has threads, nor in one
    # that may have no processes of its own for generated mutants.
    stay = mutant_s is not None or "torch" in sys.modules
    others = [item for item in names if not (stay and _is_code(bank, item))]
    reports = dict(on_all_cores(lint, others, least=_LEAST_ITEMS, together=1, progress=announce))
    for item in names:
        if item not in reports:
            reports[item] = lint(item)
            announce({item: reports[item]})
    return [reports[item] for item in names]


def _is_code(bank: Bank, item: str) -> bool:
    try:
        return bank.load(item).kind == "code"
    except InputError:
        return False  # its faults are reported when it is its turn


def _lint_of(
    bank: Bank,
    item: str,
    seeds: int,
    strict: bool,
    mutant_s: float | None,
    watch: Callable[[int], Callable[[], None]],
) -> LintReport:
    path = bank.path(item)
    try:
        spec = bank.load(item)
    except InputError as error:
        return LintReport(item, tuple(_unreadable(error, path)))
    return lint_item(spec, path, bank, seeds=seeds, strict=strict, mutant_s=mutant_s, watch=watch)


def _unreadable(error: InputError, path: Path) -> Iterator[LintFinding]:
    diagnostics: Sequence[Diagnostic] = getattr(error, "diagnostics", ())
    for fault in diagnostics:
        yield LintFinding.of_diagnostic("spec", fault)
    if not diagnostics:
        yield LintFinding(
            "spec",
            FindingSeverity.ERROR,
            error.what,
            str(path),
            expected=error.expected,
            got=error.got,
            next_step=error.next_step,
        )
