"""One item on the examination table: its spec, its places in the file, its variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.errors import DrawError, SoftmarkError
from engine.lint.finding import Finding, Severity
from engine.model import Variant
from engine.spec.places import Document, Loc
from engine.spec.schema import CodeAnswer, FixedParameter, ProblemSpec
from engine.spec.syllabus import Term
from engine.spec.text_file import source_line

__all__ = ["Loc", "Subject"]

# an item with one key varies at most in the order of its options
_FIXED = 10


@dataclass(frozen=True)
class Subject:
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
    terms : mapping of str to Term
        What items may need, by id.
    strict : bool
        Whether matters of style count.
    seeds : int
        How many variants are drawn: seeds 0 to ``seeds - 1``.
    path : Path, optional
        The problem file.
    document : Document, optional
        The same file read with places; without it findings have no line.
    """

    spec: ProblemSpec
    version: str
    registry: Mapping[str, str]
    seeds: int
    path: Path | None = None
    document: Document | None = None
    syllabus: frozenset[str] = frozenset()
    terms: Mapping[str, Term] = field(default_factory=dict)
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
        from engine.variants.expressions import evaluate
        from engine.variants.values import as_tensor

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
        severity: Severity = Severity.ERROR,
        expected: str | None = None,
        got: str | None = None,
        next_step: str | None = None,
        seed: int | None = None,
    ) -> Finding:
        """Return a finding with the place of ``loc`` in the problem file."""
        line = column = None
        text = ""
        if self.document is not None:
            line, column = self.document.locate(loc, key=True)
            text = source_line(self.document.text, line)
        file = self.document.file if self.document else str(self.path or "")
        return Finding(
            rule, severity, message, file, line, column, expected, got, next_step, seed, source_line=text
        )

    def warning(self, rule: str, message: str, loc: Loc = (), **more: Any) -> Finding:
        """Return a finding that doesn't keep the item from being served."""
        return self.fault(rule, message, loc, severity=Severity.WARNING, **more)
