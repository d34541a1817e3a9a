"""One item on the examination table: its spec, its places in the file, its variants."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.errors import DrawError, SoftmarkError
from engine.items import (
    AnswerSpec,
    CodeAnswer,
    FixedParameter,
    ItemMisconception,
    OrderingAnswer,
    ProblemSpec,
)
from engine.items.misconceptions import TaughtTerm
from engine.model import Variant
from engine.text.files import source_line
from engine.text.yaml_errors import Loc, YamlDocument

__all__ = [
    "NUMBER_WORDS",
    "TEMPLATE_SPAN",
    "FindingSeverity",
    "LintFinding",
    "LintReport",
    "LintSubject",
    "StudentText",
    "typed_text",
    "written_texts",
]


# ----------------------------------------------------------------------------------------------------
# What lint has to say about one problem file.


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
        Name of the rule that found it, e.g. ``"printed"``.
    severity : FindingSeverity
    message : str
        What is wrong, with the numbers.
    file : str
        Path as the person gave it.
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

    @property
    def place(self) -> str:
        """``file:line:column``, or what of it is known."""
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part not in ("", None))

    def lines(self) -> list[str]:
        """Return the finding as plain lines: place and message, the source line, what to do."""
        head = f"{self.place}: " if self.place else ""
        shown = [f"{head}{self.severity} [{self.rule}] {self.message}"]
        if self.source_line.strip() and self.column is not None:
            shown += [f"    {self.source_line}", "    " + " " * (self.column - 1) + "^"]
        for label, text in (("expected", self.expected), ("got", self.got), ("next", self.next_step)):
            if text is not None:
                shown.append(f"  {label}: {text}")
        if self.seed is not None:
            shown.append(f"  seen in the variant of seed {self.seed}")
        return shown

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object of ``grade lint --json``."""
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "expected": self.expected,
            "got": self.got,
            "next_step": self.next_step,
            "seed": self.seed,
        }


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
        What was measured: variants tried, distinct keys, kill matrix of a code exercise.
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


# an item with one key varies at most in the order of its options
_FIXED = 10


@dataclass(frozen=True)
class LintSubject:
    """An item under examination.

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
        What items may need, by id.
    strict : bool
        Whether matters of style count.
    seeds : int
        How many variants are drawn: seeds 0 to ``seeds - 1``.
    path : Path, optional
        The problem file.
    document : YamlDocument, optional
        The same file read with places; without it findings have no line.
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

        drawn: list[Variant] = []
        for seed in range(min(self.seeds, _FIXED) if self.spec.variants == 1 else self.seeds):
            try:
                variant = draw_seeded(self.spec, version=self.version, registry=self.registry, seed=seed)
            except DrawError as error:
                return tuple(drawn), (seed, error)
            drawn.append(variant)
        return tuple(drawn), None

    def loc_of(self, part: str) -> tuple[int | str, ...]:
        """Return where the answer of a part stands in the problem file."""
        for index, step in enumerate(self.spec.steps):
            if step.id == part:
                return ("steps", index, "answer")
        return ("answer",)

    def evaluate_fixed(self, expression: str) -> Any:
        """Evaluate an expression on the fixed parameters and what derives from them.

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
        rule: str,
        message: str,
        loc: Loc = (),
        *,
        severity: FindingSeverity = FindingSeverity.ERROR,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
        seed: int | None = None,
    ) -> LintFinding:
        """Return a finding with the place of ``loc`` in the problem file."""
        line = column = None
        text = ""
        if self.document is not None:
            line, column = self.document.locate(loc, key=True)
            text = source_line(self.document.text, line)
        file = self.document.file if self.document else str(self.path or "")
        return LintFinding(
            rule, severity, message, file, line, column, expected, got, next_step, seed, source_line=text
        )

    def warning(self, rule: str, message: str, loc: Loc = (), **more: Any) -> LintFinding:
        """Return a finding that doesn't keep the item from being served."""
        return self.fault(rule, message, loc, severity=FindingSeverity.WARNING, **more)


# ----------------------------------------------------------------------------------------------------
# The texts of a problem file as they are written, and where they stand.

NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
"""Small numbers as texts spell them; a word's position is its value."""
TEMPLATE_SPAN = re.compile(r"\{\{((?:[^{}]|\{(?!\{)|\}(?!\}))*+)\}\}", re.DOTALL)
"""An expression between two braces, which a variant fills in."""

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
        ``stem``, ``hint``, ``solution``, ``erratum``, ``prompt``, ``option`` (cards, prompts and targets too)
        or ``feedback`` (that of known mistakes, failed checks and known-wrong programs too).
    """

    text: str
    loc: Loc
    kind: str


def written_texts(spec: ProblemSpec) -> Iterator[StudentText]:
    """Yield every text that stands in an item's file; the registry's sentences aren't among them."""
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
    if isinstance(answer, CodeAnswer):
        for index, check in enumerate(answer.checks):
            if check.message:
                yield StudentText(check.message, (*loc, "checks", index, "message"), "feedback")
        for index, mutant in enumerate(answer.mutants):
            if mutant.feedback:
                yield StudentText(mutant.feedback, (*loc, "mutants", index, "feedback"), "feedback")


# ----------------------------------------------------------------------------------------------------
# What an author typed himself: a word that is meant isn't left over from a template.

_TEMPLATE = re.compile(
    r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}|\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}"
    r"|\{#(?:[^{#]|\{(?!#)|#(?!\}))*+#\}"
)
_ESCAPE = re.compile(r"\\(?=[^\sA-Za-z])")


def typed_text(spec: ProblemSpec) -> str:
    r"""Return all texts that an item shows, without what its templates fill in, escapes resolved.

    ``{\{`` and ``{&#123;`` are the two braces that they show.
    """
    shown = [written.text for written in written_texts(spec) if written.kind != "feedback"]
    plain = _TEMPLATE.sub("\n", "\n".join(shown))
    return _ESCAPE.sub("", html.unescape(plain)).replace("\u2212", "-")
