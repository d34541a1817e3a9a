"""Lint one item, or a whole bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from engine.authoring.lint.rules import RULES, STYLE_RULES
from engine.authoring.lint.subject import FindingSeverity, LintFinding, LintReport, LintSubject
from engine.errors import Diagnostic, InputError, SoftmarkError
from engine.items import ProblemSpec, item_version
from engine.items.bank import Bank
from engine.items.misconceptions import SyllabusEntry, TaughtTerm
from engine.parallel import on_all_cores
from engine.text.yaml import read_yaml

__all__ = ["DEFAULT_SEEDS", "LintRegistry", "lint_bank", "lint_item"]

DEFAULT_SEEDS = 200
_MANY = 6  # items that are worth starting processes for


class LintRegistry(Protocol):
    """The part of a bank that lint of one item needs: known mistakes, and what can be covered."""

    def registry(self) -> Mapping[str, str]:
        """Return sentence by id."""
        ...

    def syllabus(self) -> Mapping[str, Mapping[str, SyllabusEntry]]:
        """Return the syllabus' entries by group and id."""
        ...

    def terms(self) -> Mapping[str, TaughtTerm]:
        """Return the terms that items may need, by id."""
        ...


def lint_item(
    spec: ProblemSpec,
    path: Path | None,
    bank: LintRegistry,
    *,
    seeds: int = DEFAULT_SEEDS,
    strict: bool = False,
) -> LintReport:
    """Examine one item by recomputation and by trying it out.

    Parameters
    ----------
    spec : ProblemSpec
        As the loader gave it.
    path : Path or None
        Its file, for the places of findings and the files of a code exercise.
    bank : Bank
        Holds the registry of known mistakes.
    seeds : int
        How many variants are drawn and answered, seeds 0 to ``seeds - 1``.
    strict : bool
        Look at matters of style too: they give warnings.

    Returns
    -------
    LintReport
        Errors first, then by line. Never raises for a fault of the item.
    """
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
    )
    rules = (*RULES, *STYLE_RULES) if strict else RULES
    findings = [finding for rule in rules for finding in _run(rule, subject)]
    findings.sort(key=lambda f: (f.severity is not FindingSeverity.ERROR, f.line or 0, f.column or 0))
    return LintReport(spec.id, tuple(dict.fromkeys(findings)), subject.facts)


def _run(rule: Callable[[LintSubject], Iterator[LintFinding]], subject: LintSubject) -> list[LintFinding]:
    """Run one rule; what it can't do because the item is broken becomes a finding, too."""
    found: list[LintFinding] = []
    try:
        found.extend(rule(subject))
    except SoftmarkError as error:
        name = rule.__module__.rpartition(".")[2]
        found.append(subject.fault(name, error.what, got=error.got, next_step=error.next_step))
    return found


def lint_bank(
    bank: Bank,
    items: Sequence[str] | None = None,
    *,
    seeds: int = DEFAULT_SEEDS,
    strict: bool = False,
    progress: Callable[[LintReport], None] | None = None,
) -> list[LintReport]:
    """Lint the items of a bank; a file that can't be loaded gives a report of its own.

    Parameters
    ----------
    bank : Bank
    items : sequence of str, optional
        Item ids; all of the bank if left out.
    seeds : int
    strict : bool
    progress : callable, optional
        Called with each report as it is done.
    """
    wanted = list(bank.ids() if items is None else items)

    def told(*reports: LintReport) -> None:
        if progress is not None:
            for report in reports:
                progress(report)

    def one(item: str) -> LintReport:
        return _lint_of(bank, item, seeds, strict)

    # a code exercise runs its solutions in a sandbox, which has processes of its own
    done = dict(
        on_all_cores(
            one,
            [item for item in wanted if not _is_code(bank, item)],
            least=_MANY,
            together=1,
            progress=lambda found: told(*found.values()),
        )
    )
    for item in wanted:
        if item not in done:
            done[item] = one(item)
            told(done[item])
    return [done[item] for item in wanted]


def _is_code(bank: Bank, item: str) -> bool:
    try:
        return bank.load(item).kind == "code"
    except InputError:
        return False


def _lint_of(bank: Bank, item: str, seeds: int, strict: bool) -> LintReport:
    path = bank.path(item)
    try:
        spec = bank.load(item)
    except InputError as error:
        return LintReport(item, tuple(_unreadable(error, path)))
    return lint_item(spec, path, bank, seeds=seeds, strict=strict)


def _unreadable(error: InputError, path: Path) -> Iterator[LintFinding]:
    diagnostics: Sequence[Diagnostic] = getattr(error, "diagnostics", ())
    for fault in diagnostics:
        yield LintFinding(
            "spec",
            FindingSeverity.ERROR,
            fault.message,
            fault.file,
            fault.line,
            fault.column,
            source_line=fault.source_line,
        )
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
