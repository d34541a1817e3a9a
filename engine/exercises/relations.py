"""What must hold of a right function's results, whatever way it is written: plain functions of a call.

A relation is a function of a :class:`RelationCall` that returns whether it holds, with the sentence that
students read where it doesn't. It may ask for more calls of the function, on inputs made from the first::

    @relation("Adding one number to a whole row must not change its result.")
    def shift(call):
        return call.close(call.again(x=call.x + 8), call.result)

It runs twice. When the plan is made, results come from the reference: so the further calls are known before
any student code is loaded, and a relation that the reference breaks is found at once. When a submission is
judged, the same calls are answered with what its function returned. So inputs may depend on the arguments
alone, never on a result.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.code.arguments import Argument, key_of
from engine.code.comparison import DifferenceEvidence, contrast, describe_difference, slack_between
from engine.code.exercise import author_faults, fault_in_short
from engine.code.observe import PlanObservations
from engine.code.plan import CaseGroup, ExpectedResult
from engine.code.planned_exercise import AuthorError
from engine.code.properties import Property
from engine.errors import EngineError, SpecError

_READY = "engine.exercises.ready_relations"
Floats = NDArray[np.float64]
Result = Floats | tuple[Floats, ...]


class UnplannedCallError(Exception):
    """A relation asked for a call that depends on a result."""


class RelationCall:
    """One call of the function: its arguments, its result, and further calls.

    Parameters
    ----------
    arguments : mapping of str to Argument
        By name; arrays are float64 and can't be written into. Each is an attribute as well: ``call.x``.
    result : ndarray or tuple of ndarray
        What the function returned, in float64; a tuple where it returns several arrays.
    ask : callable
        Gives the result for other arguments.
    slack : float
        How far two results may lie apart that are equal in theory.
    place : int or None
        Which array of a tuple it is about.
    """

    def __init__(
        self,
        arguments: Mapping[str, Argument],
        result: Result,
        ask: Callable[[tuple[Argument, ...]], Result],
        slack: float,
        place: int | None = None,
    ) -> None:
        # an author's function knows which kind each of them is
        self.arguments: Mapping[str, Any] = arguments
        self.result: Any = result if place is None else result[place]
        self.slack = slack
        self._ask, self._place = ask, place
        self.difference: tuple[Floats, Floats, float] | None = None

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["arguments"][name]
        except KeyError:
            others = ", ".join(("result", "again", "close", *self.__dict__.get("arguments", ())))
            raise AttributeError(f"the call has no argument {name!r}; it has {others}") from None

    def again(self, **changes: Argument) -> Any:
        """Return the function's result for the same arguments but these.

        Raises
        ------
        TypeError
            The function has no such argument.
        UnplannedCallError
            The arguments were made from a result; make them from the arguments alone.
        """
        if unknown := set(changes) - set(self.arguments):
            raise TypeError(
                f"the function has no argument {min(unknown)!r}, only {', '.join(self.arguments)}"
            )
        result = self._ask(tuple({**self.arguments, **changes}.values()))
        return result if self._place is None else result[self._place]

    def close(self, got: Any, due: Any, *, factor: float = 1.0) -> bool:
        """Return whether two arrays agree up to rounding; the worst entry is shown to the student.

        Parameters
        ----------
        got, due : array_like
            Of shapes that broadcast; of two tuples each pair is compared.
        factor : float
            How many times the usual tolerance they may lie apart: the sum of the tolerances of all calls'
            results, for numbers about as large. That of a result follows from its dtype and size, the sizes
            of the arguments and, in float32 or where an argument is beyond 1,024, from how far the right
            result moves when the arguments are rounded.
        """
        if isinstance(got, tuple) and isinstance(due, tuple):
            pairs = zip(got, due, strict=True)
            return all(self.close(part, other, factor=factor) for part, other in pairs)
        left, right = np.broadcast_arrays(np.asarray(got, np.float64), np.asarray(due, np.float64))
        with np.errstate(invalid="ignore"):
            fits = bool(np.all((np.abs(left - right) <= self.slack * factor) | (left == right)))
        if not fits and self.difference is None:
            self.difference = left, right, self.slack * factor
        return fits


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation: what a check of the rubric calls it, and what students read.

    Parameters
    ----------
    name : str
        Small letters and hyphens.
    title : str
        A few words on what is tried.
    sentence : str
        What must hold.
    holds : callable
        Takes a :class:`RelationCall` and returns whether it does.
    cases : str or None
        Name of the variation whose inputs it is judged on; None for ordinary inputs.
    part, place : str or None, int or None
        The array that it is about, where the function returns several, and where that stands in the result.
    line : int
        Of the author's file.
    """

    name: str
    title: str
    sentence: str
    holds: Callable[[RelationCall], bool]
    cases: str | None = None
    part: str | None = None
    place: int | None = None
    line: int = 1

    def of(self, part: str) -> Relation:
        """Return the relation for one of several arrays; ``sums-to-one`` becomes ``sums-to-one-weights``."""
        name, title = f"{self.name}-{part.replace('_', '-')}", f"{part}: {self.title}"
        return replace(self, name=name, title=title, sentence=f"{part}: {self.sentence}", part=part)

    def on(self, variation: str) -> Relation:
        """Return the relation for the inputs of a variation, which a check names under ``cases``.

        ``"batch"`` are inputs with leading axes. There the check ``batch`` compares with the results of the
        parts one by one; a law explains more where leading axes are mixed, as in a mean over all of them.
        """
        return replace(self, cases=variation)

    def further_calls(
        self,
        names: Sequence[str],
        args: tuple[Argument, ...],
        expected: Callable[[tuple[Argument, ...]], ExpectedResult],
        fault: Callable[[tuple[Argument, ...]], str | None],
    ) -> list[tuple[Argument, ...]]:
        """Return the arguments of the further calls, in their order.

        Raises
        ------
        AuthorError
            The reference itself breaks the relation, or a further call has arguments that don't fit.
        """
        calls: list[tuple[Argument, ...]] = []

        def ask(other: tuple[Argument, ...]) -> Result:
            if reason := fault(other):
                message = f"the relation {self.name!r} makes a call whose arguments don't fit: {reason}"
                raise AuthorError(message, self.line)
            calls.append(other)
            result = expected(other)
            call.slack += result.slack
            return _values(result)

        right = expected(args)
        call = RelationCall(_named(names, args), _values(right), ask, 2 * right.slack, self.place)
        hint, is_ready = "", self.holds.__module__ == _READY
        if isinstance(call.result, tuple) and is_ready:
            hint = "; where a function returns several arrays, .of('NAME') says which of them is meant"
        try:
            with np.errstate(all="ignore"):
                holds = self.holds(call)
        except (TypeError, ValueError, IndexError) as error:  # of numpy, about what the author's line says
            if isinstance(error, AuthorError) or not is_ready:
                raise
            raise AuthorError(f"the relation {self.name!r} raised {error}{hint}", self.line) from error
        if holds is None:
            raise AuthorError(f"the relation {self.name!r} returns None, not True or False", self.line)
        if not holds:
            message = f"the reference itself breaks the relation {self.name!r}: {self.sentence}{hint}"
            raise AuthorError(message, self.line)
        return calls

    def as_property(self, names: Sequence[str], path: Any) -> Property:
        """Return it as a property that the rubric's checks can name; `path` is the author's file."""

        def judge(group: CaseGroup, run: PlanObservations) -> str | None:
            return _judge(self, names, path, group, run)

        return Property(self.name, self.title, self.sentence, judge)


def relation(
    sentence: str, *, title: str | None = None, name: str | None = None
) -> Callable[[Callable[[RelationCall], bool]], Relation]:
    """Make a relation of a function.

    Parameters
    ----------
    sentence : str
        What must hold: all that students see of hidden inputs.
    title : str, optional
        A few words, shown beside the mark whether the check passed or not; made from the name if left out.
    name : str, optional
        What checks of the rubric call it; the function's name with hyphens if left out.
    """

    def made(holds: Callable[[RelationCall], bool]) -> Relation:
        own_name = name or holds.__name__.strip("_").replace("_", "-")
        frame = sys._getframe(1)
        while frame.f_globals.get("__name__") == _READY and frame.f_back:
            frame = frame.f_back  # a ready relation is made where the author names it
        words = title or own_name.replace("-", " ")
        return Relation(own_name, words, sentence, holds, line=frame.f_lineno)

    if callable(sentence):
        raise TypeError("the sentence is missing: write @relation('What must hold.') above the function")
    return made


def _values(expected: ExpectedResult) -> Result:
    parts = tuple(part.values for part in expected.parts)
    return parts if len(parts) > 1 else parts[0]


def _named(names: Sequence[str], args: tuple[Argument, ...]) -> dict[str, Argument]:
    return {name: _locked(value) for name, value in zip(names, args, strict=False)}


def _locked(value: Argument) -> Argument:
    # an author who writes into an argument would change the input of later calls
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    return value


def _judge(
    judged: Relation, names: Sequence[str], path: Any, group: CaseGroup, run: PlanObservations
) -> str | None:
    first, *others = group.members
    members = {key_of(run.plan.cases[member].args): member for member in others}

    def ask(args: tuple[Argument, ...]) -> Result:
        member = members.get(key_of(args))
        if member is None:
            raise UnplannedCallError("it asks for a call that depends on a result")
        return _observed(run, member)

    for member in group.members:
        if evidence := _not_finite(run, member):
            return evidence
    slack = slack_between(run, group.members)
    arguments = _named(names, run.plan.cases[first].args)
    call = RelationCall(arguments, _observed(run, first), ask, slack, judged.place)
    try:
        with author_faults(path), np.errstate(all="ignore"):
            holds = bool(judged.holds(call))
    except SpecError as error:
        raise EngineError(f"the relation {judged.name} is at fault: {fault_in_short(error)}") from error
    if holds:
        return None
    if call.difference is not None:
        got, due, allowed = call.difference
        pair = [first, *others[:1]]
        return describe_difference(run, pair, got, due, allowed) or DifferenceEvidence(_breaks(run, first))
    return DifferenceEvidence(_breaks(run, first))


def _breaks(run: PlanObservations, member: int) -> str:
    return f"it doesn't hold for {run.call(member)}"


def _observed(run: PlanObservations, member: int) -> Result:
    parts = tuple(run.values(member, place).copy() for place in range(len(run.expected(member).parts)))
    return parts if len(parts) > 1 else parts[0]


def _not_finite(run: PlanObservations, member: int) -> DifferenceEvidence | None:
    # The author's function may count on finite numbers: what isn't finite breaks every relation by itself.
    for place, part in enumerate(run.expected(member).parts):
        got = run.values(member, place)
        wrong = ~np.isfinite(got) & np.isfinite(part.values)
        if wrong.any():
            index = tuple(np.argwhere(wrong)[0])
            clause = "for {call} an entry is {got}, where the right one is {due}"
            return contrast(run, member, clause, got[index], part.values[index])
    return None
