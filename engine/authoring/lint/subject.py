"""The item being linted, the findings about it, and the texts that it shows.

All rules share one subject, so that variants are drawn once and the file is read once.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from engine.errors import Diagnostic, DrawError, SoftmarkError
from engine.items import (
    AnswerSpec,
    CodeAnswer,
    FixedParameter,
    FreeTextAnswer,
    ItemMisconception,
    OrderingAnswer,
    ProblemSpec,
)
from engine.items.bank_files import TaughtTerm
from engine.model import Variant
from engine.text.files import source_line
from engine.text.yaml_errors import Loc, YamlDocument


class FindingSeverity(StrEnum):
    """An error keeps an item from being served; a warning doesn't."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """One fault of an item, found by recomputation or by trying it out.

    Parameters
    ----------
    rule : str
        Name of the rule, such as ``"printed"``.
    severity : FindingSeverity
    message : str
        What is wrong, with the numbers.
    file : str
        Path as the user typed it.
    line, column : int or None
        Both from 1; None where the fault has no place in the file.
    expected, got, next_step : str, optional
        As in :class:`engine.errors.SoftmarkError`.
    seed : int, optional
        The first variant that shows it: ``grade show ITEM --seed``.
    source_line : str
        The line of the file, for the caret display.
    """

    rule: str
    severity: FindingSeverity
    message: str
    file: str = ""
    line: int | None = None
    column: int | None = None
    expected: str | None = None
    got: str | None = None
    next_step: str | None = None
    seed: int | None = None
    source_line: str = ""

    @classmethod
    def of_diagnostic(cls, rule: str, fault: Diagnostic) -> Self:
        """Return a fault of the loader as a finding."""
        place = (fault.file, fault.line, fault.column)
        return cls(rule, FindingSeverity.ERROR, fault.message, *place, source_line=fault.source_line)

    @property
    def place(self) -> str:
        """``file:line:column``, or what of it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part not in ("", None))

    def lines(self) -> list[str]:
        """Return the finding as plain lines: place and message, the source line, what to do."""
        head = f"{self.place}: " if self.place else ""
        lines = [f"{head}{self.severity} [{self.rule}] {self.message}"]
        if self.source_line.strip() and self.column is not None:
            lines += [f"    {self.source_line}", "    " + " " * (self.column - 1) + "^"]
        for label, text in (("expected", self.expected), ("got", self.got), ("next", self.next_step)):
            if text is not None:
                lines.append(f"  {label}: {text}")
        if self.seed is not None:
            lines.append(f"  seen in the variant of seed {self.seed}")
        return lines

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade lint --json``."""
        fields = asdict(self) | {"severity": str(self.severity)}
        del fields["source_line"]  # for people: programs have the file
        return fields


@dataclass(frozen=True, slots=True)
class LintReport:
    """All findings about one item.

    Parameters
    ----------
    item : str
        Item id.
    findings : tuple of LintFinding
        Errors first, then in the order of their lines.
    facts : mapping
        Measurements: variants tried, distinct keys, the kill matrix of a code exercise.
    """

    item: str
    findings: tuple[LintFinding, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def errors(self) -> tuple[LintFinding, ...]:
        """The findings that keep the item from being served."""
        return tuple(f for f in self.findings if f.severity is FindingSeverity.ERROR)

    @property
    def warnings(self) -> tuple[LintFinding, ...]:
        """The other findings."""
        return tuple(f for f in self.findings if f.severity is FindingSeverity.WARNING)

    @property
    def passed(self) -> bool:
        """Whether there is no error."""
        return not self.errors

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade lint --json``."""
        return {
            "item": self.item,
            "passed": self.passed,
            "findings": [finding.as_json() for finding in self.findings],
            "facts": self.facts,
        }


_FIXED = 10  # variants of an item with a single key: they differ at most in the order of the options


@dataclass(frozen=True)
class LintSubject:
    """The item being linted.

    Parameters
    ----------
    spec : ProblemSpec
    version : str
        Item version, as variants carry it.
    registry : mapping of str to str
        Misconception id to sentence.
    syllabus : frozenset of str
        Ids of the entries that items may cover.
    terms : mapping of str to TaughtTerm
        Terms that items may need, by id.
    strict : bool
        Whether matters of style are looked at.
    seeds : int
        How many variants are drawn: seeds 0 to ``seeds - 1``.
    path : Path, optional
        The problem file.
    document : YamlDocument, optional
        The same file with the place of each value; without it findings have no line.
    mutant_s : float, optional
        How many seconds generated mutants of a code exercise are tried; without it there are none.
    watch : callable
        Takes how many of them there are, and returns what is called after each.
    facts : dict
        What rules found out beside findings, for the report: the kill matrix, the keys counted.
    """

    spec: ProblemSpec
    version: str
    registry: Mapping[str, str]
    seeds: int
    path: Path | None = None
    document: YamlDocument | None = None
    syllabus: frozenset[str] = frozenset()
    terms: Mapping[str, TaughtTerm] = field(default_factory=dict)
    strict: bool = False
    mutant_s: float | None = None
    watch: Callable[[int], Callable[[], None]] = lambda total: lambda: None
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def is_code(self) -> bool:
        """Whether the item asks for code."""
        return isinstance(self.spec.answer, CodeAnswer)

    @cached_property
    def variants(self) -> tuple[Variant, ...]:
        """The drawn variants, up to the first draw that fails (see :attr:`draw_failure`)."""
        return self._draws[0]

    @property
    def draw_failure(self) -> tuple[int, SoftmarkError] | None:
        """The first seed whose draw fails, and the error."""
        return self._draws[1]

    @cached_property
    def _draws(self) -> tuple[tuple[Variant, ...], tuple[int, SoftmarkError] | None]:
        from engine.variants import draw_seeded

        variants: list[Variant] = []
        for seed in range(min(self.seeds, _FIXED) if self.spec.variants == 1 else self.seeds):
            try:
                variant = draw_seeded(self.spec, version=self.version, registry=self.registry, seed=seed)
            except DrawError as error:  # further seeds would mostly fail in the same way
                return tuple(variants), (seed, error)
            variants.append(variant)
        return tuple(variants), None

    def loc_of(self, part: str) -> tuple[int | str, ...]:
        """Return the place of a part's answer in the problem file."""
        for index, step in enumerate(self.spec.steps):
            if step.id == part:
                return ("steps", index, "answer")
        return ("answer",)

    def evaluate_fixed(self, expression: str) -> Any:
        """Evaluate an expression on the fixed parameters and what is derived from them.

        Raises
        ------
        EngineError
            The expression fails, or names something that is drawn.
        """
        from engine.expressions.language import evaluate
        from engine.expressions.values import as_tensor

        names: dict[str, Any] = {
            name: as_tensor(parameter.value)
            for name, parameter in self.spec.parameters.items()
            if isinstance(parameter, FixedParameter)
        }
        for name, derived in self.spec.derived.items():
            names[name] = evaluate(derived, names)
        return evaluate(expression, names)

    def fault(
        self,
        message: str,
        loc: Loc = (),
        *,
        severity: FindingSeverity = FindingSeverity.ERROR,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
        seed: int | None = None,
    ) -> LintFinding:
        """Return a finding at the place of ``loc`` in the problem file; lint adds the rule's name."""
        line = column = None
        text = ""
        if self.document is not None:
            # a key that is missing has the place of what it is missing from
            line, column = self.document.locate(loc, key=True)
            text = source_line(self.document.text, line)
        file = self.document.file if self.document else str(self.path or "")
        return LintFinding(
            "", severity, message, file, line, column, expected, got, next_step, seed, source_line=text
        )

    def warning(self, message: str, loc: Loc = (), **more: Any) -> LintFinding:
        """Return a finding that doesn't keep the item from being served."""
        return self.fault(message, loc, severity=FindingSeverity.WARNING, **more)


NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""Small numbers as texts spell them; a word's position is its value."""
TEMPLATE_SPAN = re.compile(r"\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*+)\}\}", re.DOTALL)
"""An expression between two braces, which a variant fills in."""
TEMPLATE_BLOCK = re.compile(r"\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}", re.DOTALL)
"""A statement such as ``{% if … %}``; neither pattern gives back what it has read, so both are linear."""

_POOLS = ("options", "cards", "prompts", "targets")


@dataclass(frozen=True, slots=True)
class StudentText:
    """One text that students read.

    Parameters
    ----------
    text : str
        With its templates.
    loc : tuple
        Its place in the file.
    kind : str
        ``stem``, ``hint``, ``solution``, ``erratum``, ``prompt``, ``option`` (also cards, prompts, targets)
        or ``feedback`` (also that of known mistakes, failed checks and known-wrong programs, and rubrics).
    """

    text: str
    loc: Loc
    kind: str


def written_texts(spec: ProblemSpec) -> Iterator[StudentText]:
    """Yield every text of an item's file; the registry's sentences aren't among them."""
    yield StudentText(spec.stem, ("stem",), "stem")
    for index, hint in enumerate(spec.hints):
        yield StudentText(hint, ("hints", index), "hint")
    for index, erratum in enumerate(spec.errata):
        yield StudentText(erratum.note, ("errata", index, "note"), "erratum")
    if spec.solution is not None:
        yield StudentText(spec.solution, ("solution",), "solution")
    if spec.answer is not None:
        yield from _of_answer(spec.answer, ("answer",))
    for index, step in enumerate(spec.steps):
        yield StudentText(step.prompt, ("steps", index, "prompt"), "prompt")
        yield from _of_answer(step.answer, ("steps", index, "answer"))
        yield from _of_mistakes(step.misconceptions, ("steps", index))
    yield from _of_mistakes(spec.misconceptions, ())


def _of_mistakes(mistakes: Sequence[ItemMisconception], loc: Loc) -> Iterator[StudentText]:
    for index, mistake in enumerate(mistakes):
        if mistake.feedback:
            yield StudentText(mistake.feedback, (*loc, "misconceptions", index, "feedback"), "feedback")


def _of_answer(answer: AnswerSpec, loc: Loc) -> Iterator[StudentText]:
    for pool in _POOLS:
        for index, entry in enumerate(getattr(answer, pool, ())):
            yield StudentText(entry.text, (*loc, pool, index, "text"), "option")
            if feedback := getattr(entry, "feedback", None):
                yield StudentText(feedback, (*loc, pool, index, "feedback"), "feedback")
    if isinstance(answer, OrderingAnswer) and answer.feedback:
        yield StudentText(answer.feedback, (*loc, "feedback"), "feedback")
    if isinstance(answer, FreeTextAnswer):
        yield StudentText(answer.sample, (*loc, "sample"), "feedback")
        for index, criterion in enumerate(answer.rubric):
            place = (*loc, "rubric", index)
            yield StudentText(criterion.title, (*place, "title"), "prompt")
            yield StudentText(criterion.text, (*place, "text"), "feedback")
            for number, level in enumerate(criterion.levels):
                yield StudentText(level.text, (*place, "levels", number, "text"), "feedback")
    if isinstance(answer, CodeAnswer):
        for index, check in enumerate(answer.checks):
            if check.message:
                yield StudentText(check.message, (*loc, "checks", index, "message"), "feedback")
        for index, mutant in enumerate(answer.mutants):
            if mutant.feedback:
                yield StudentText(mutant.feedback, (*loc, "mutants", index, "feedback"), "feedback")


_TEMPLATE = re.compile(
    rf"{TEMPLATE_SPAN.pattern}|{TEMPLATE_BLOCK.pattern}|\{{#(?:[^{{#]|\{{(?!#)|#(?!\}}))*+#\}}", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?=[^\sA-Za-z])")


def typed_text(spec: ProblemSpec) -> str:
    r"""Return all texts of an item, without what its templates fill in, escapes resolved.

    A word that the author typed isn't left over from a template: ``nan`` may be what the question is about.
    ``{\{`` and ``{&#123;`` become the two braces that they show.
    """
    texts = [written.text for written in written_texts(spec) if written.kind != "feedback"]
    plain = _TEMPLATE.sub("\n", "\n".join(texts))
    return _ESCAPE.sub("", html.unescape(plain)).replace(
        "\u2212", "-"
    )  # rendered numbers have the real minus sign
