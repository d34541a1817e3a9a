"""Draw a variant: numbers first, then its texts.

Numbers are drawn again until every constraint holds and every field can be drafted; texts, the costly part,
are rendered once for the numbers that serve.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from engine.answers import draft_field, kind_of
from engine.answers.base import FieldContext, FieldDraft, FieldRenderer
from engine.answers.follow_through import StepSettings, misconception_name
from engine.draws import (
    ImpossibleDraw,
    RandomStream,
    RedrawNeeded,
    draw_key,
    draw_parameter,
    seeded_key,
)
from engine.errors import DrawError, ExpressionError, UndefinedValueError
from engine.expressions.language import evaluate, evaluate_truth, require_finite, silent_arithmetic
from engine.expressions.values import array_of, decimal_of, value_of
from engine.items import ItemMisconception, ProblemSpec, SourceErratum
from engine.model import DrawnValue, Part, RenderedText, Variant
from engine.prose.figures import figure_of
from engine.text.words import count_noun

# Errata: which are shown with the item and which after it, and the printed options they accept.

_DIFFERS = "The options differ from those that the source prints; the feedback says how and why."
PRINTED_DIFFERS = RenderedText(_DIFFERS, _DIFFERS, _DIFFERS)
"""What is shown with an item whose errata would give its key away."""


def speaks_of_options(erratum: SourceErratum) -> bool:
    """Return whether an erratum says what is wrong with printed options, and so what the key is."""
    return erratum.kind in ("nearest_option_misrounded", "no_correct_option")


def differs_from_printed(spec: ProblemSpec) -> bool:
    """Return whether students see that other options are printed: not where the notes are left out."""
    return any(erratum.note and speaks_of_options(erratum) for erratum in spec.errata)


def reveals_key(erratum: SourceErratum) -> bool:
    """Return whether an erratum is shown with the feedback only, because it would tell the answer before."""
    return erratum.after or speaks_of_options(erratum)


def accepted_printed(spec: ProblemSpec) -> tuple[Mapping[str, Any], ...]:
    """Return the printed options that count as right, each with the erratum that says so.

    Returns
    -------
    tuple of mapping
        ``letter``, ``erratum`` (id), ``note`` (its template; empty where notes are left out), and
        ``numbers`` (decimal strings) with ``shape``, or ``text``.
    """
    if spec.printed is None:
        return ()
    accepted = []
    for erratum in spec.errata:
        letter = erratum.intended_option
        if erratum.accept_intended and letter is not None and letter in spec.printed.options:
            value = _value(spec.printed.options[letter])
            accepted.append({"letter": letter, "erratum": erratum.id, "note": erratum.note, **value})
    return tuple(accepted)


def _value(option: Any) -> dict[str, Any]:
    if isinstance(option, str):
        return {"text": option}
    array = array_of(option)
    return {"shape": list(array.shape), "numbers": [str(decimal_of(value)) for value in array.data]}


# Draw numbers until they serve: parameters, derived values, constraints, and the drafts of all fields.

# A constraint that holds for one draw in twenty fails 200 times in a row once in 28,000 variants. An item
# that needs more tries should draw from narrower ranges.
TRIES = 200


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One answer field of a spec: the answer itself, or a step's."""

    id: str
    answer: Any
    points: float
    prompt: str | None
    misconceptions: tuple[ItemMisconception, ...]
    follow_through: bool = False
    invariants: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SolvedDraw:
    """Numbers that serve.

    Parameters
    ----------
    drawn : mapping of str to DrawnValue
    values : mapping of str to value
        Parameters and derived values.
    fields : tuple of (AnswerField, FieldDraft)
    is_random : bool
        Whether anything was drawn.
    """

    drawn: Mapping[str, DrawnValue]
    values: Mapping[str, Any]
    fields: tuple[tuple[AnswerField, FieldDraft], ...]
    is_random: bool

    def keys(self) -> dict[str, tuple[Any, FieldDraft]]:
        """Return the key of every field by its id."""
        return {field.id: (draft.value, draft) for field, draft in self.fields}


def _fields_of(spec: ProblemSpec) -> tuple[AnswerField, ...]:
    """Return the answer fields of a spec; a single one is called ``answer``.

    Where the item states its points, its steps share them in proportion to their own.
    """
    if spec.answer is not None:
        return (AnswerField("answer", spec.answer, spec.points, None, spec.misconceptions),)
    total = sum(step.points for step in spec.steps)
    share = spec.points / total if "points" in spec.model_fields_set and total else 1.0
    return tuple(
        AnswerField(
            step.id,
            step.answer,
            round(step.points * share, 9),
            step.prompt,
            step.misconceptions,
            step.follow_through,
            step.invariants,
        )
        for step in spec.steps
    )


def solve(spec: ProblemSpec, stream: RandomStream) -> SolvedDraw:
    """Draw until all constraints hold and every field can be drafted, at most 200 times.

    Raises
    ------
    DrawError
        No try served (names the constraint that failed most), or none can.
    ExpressionError
        An expression of the spec is faulty.
    """
    failures: Counter[str] = Counter()
    for _ in range(TRIES):
        try:
            with silent_arithmetic():
                return _try(spec, stream)
        except RedrawNeeded as reason:
            failures[str(reason)] += 1
        except UndefinedValueError as error:
            failures[error.expected or f"{error.where} has a value"] += 1
        except ImpossibleDraw as reason:
            raise DrawError(f"no variant can be drawn: {reason}", where=spec.id) from None
        except ExpressionError as error:  # a fault of the spec, which no other numbers will fix
            error.where = f"{spec.id}, {error.where}"
            raise
        if not stream.used:  # nothing is random: another try is the same
            break
    worst, count = failures.most_common(1)[0]
    tries = sum(failures.values())
    others = "; ".join(f"{text} (failed {n})" for text, n in failures.most_common(4)[1:])
    raise DrawError(
        f"no variant within {count_noun(tries, 'try')}: this failed {count_noun(count, 'time')}: {worst}",
        where=spec.id,
        expected=worst,
        got=f"also failed: {others}" if others else None,
        next_step="loosen that constraint, or widen the ranges of the parameters",
    )


def _try(spec: ProblemSpec, stream: RandomStream) -> SolvedDraw:
    drawn: dict[str, DrawnValue] = {}
    names: dict[str, Any] = {}
    for name, parameter in spec.parameters.items():
        drawn[name] = draw_parameter(parameter, stream, names)
        names[name] = value_of(drawn[name])
    names |= _derived(spec, names)
    for constraint in spec.constraints:
        if not evaluate_truth(constraint.expr, names):
            raise RedrawNeeded(constraint.message)
    return _drafted(spec, drawn, names, is_random=stream.used > 0)


def solve_for(spec: ProblemSpec, drawn: Mapping[str, DrawnValue]) -> SolvedDraw:
    """Draft all fields for numbers that were drawn before, whatever the constraints say now.

    Raises
    ------
    Redraw, ImpossibleDraw
        The fields can't be drafted for these numbers.
    ExpressionError
        An expression is faulty, or has no value for them.
    """
    names = {name: value_of(value) for name, value in drawn.items()}
    return _drafted(spec, drawn, names | _derived(spec, names), is_random=True)


def _derived(spec: ProblemSpec, parameters: Mapping[str, Any]) -> dict[str, Any]:
    names = dict(parameters)
    for name, text in spec.derived.items():
        names[name] = require_finite(evaluate(text, names), text)
    return names


def _drafted(
    spec: ProblemSpec, drawn: Mapping[str, DrawnValue], names: dict[str, Any], *, is_random: bool
) -> SolvedDraw:
    values = dict(names)
    fields = _fields_of(spec)
    # A single field has no costly part before its key: its draft fails as early.
    if len(fields) > 1:
        _check_keys_early(fields, names)
    drafts: list[tuple[AnswerField, FieldDraft]] = []
    for field in fields:
        draft = _draft(spec, field, names, drafts)
        drafts.append((field, draft))
        if field.id != "answer" and draft.value is not None:
            names[field.id] = draft.value
    return SolvedDraw(drawn, values, tuple(drafts), is_random)


def _check_keys_early(fields: tuple[AnswerField, ...], names: Mapping[str, Any]) -> None:
    """Work out the keys alone: most tries fail at a rounding tie of some step, before the costly part."""
    keys = dict(names)
    for field in fields:
        key = kind_of(field.answer.type).key_early(field.answer, keys)
        if key is not None:
            keys[field.id] = key


def _draft(
    spec: ProblemSpec,
    field: AnswerField,
    names: Mapping[str, Any],
    earlier: list[tuple[AnswerField, FieldDraft]],
) -> FieldDraft:
    context = FieldContext(
        names=_with_step_key(field, names),
        derived=spec.derived,
        misconceptions=field.misconceptions,
        carried=_carried(field, earlier),
        accepted=accepted_printed(spec) if field.id == "answer" else (),
    )
    return draft_field(field.answer, context)


def _with_step_key(field: AnswerField, names: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the names with the step's own key, which its misconceptions may use."""
    key = getattr(field.answer, "key", None)
    if field.id == "answer" or key is None or not field.misconceptions:
        return names
    return {**names, field.id: evaluate(key, names)}


def _carried(
    field: AnswerField, earlier: list[tuple[AnswerField, FieldDraft]]
) -> dict[str, tuple[float, ...]]:
    """Return how far the earlier answers that a student goes on with may lie from their keys.

    An entry that is exact at the places asked for isn't off at all. Where follow-through marks this step with
    the student's own values, the others needn't be allowed for beyond the rounding to those places.
    """
    carried = {}
    for step, draft in earlier:
        if not draft.half_widths:
            continue
        rounding = tuple(0.0 if place is None else 0.5 * 10.0**-place for place in draft.places)
        reach = rounding if field.follow_through else draft.half_widths
        carried[step.id] = tuple(0.0 if exact else far for far, exact in zip(reach, draft.exact, strict=True))
    return carried


def draw(
    spec: ProblemSpec,
    *,
    version: str,
    registry: Mapping[str, str],
    secret: bytes,
    student: str,
    attempt: int = 0,
) -> Variant:
    """Draw a student's variant of an item.

    Parameters
    ----------
    spec : ProblemSpec
    version : str
        Content hash of the spec; kept in the variant, no part of the seed.
    registry : mapping of str to str
        Feedback sentence by misconception id.
    secret : bytes
        The course secret.
    student : str
    attempt : int
        From 0.

    Raises
    ------
    engine.errors.DrawError
        No variant within 200 tries, or a faulty expression or text.
    """
    key = draw_key(secret, spec.id, student, attempt)
    return draw_of_key(spec, version=version, registry=registry, key=key)


def draw_of_key(spec: ProblemSpec, *, version: str, registry: Mapping[str, str], key: bytes) -> Variant:
    """Draw the variant of a key that :func:`engine.draws.draw_key` made; otherwise as :func:`draw`.

    So whoever draws needn't know the course's secret.
    """
    return _draw(spec, version, registry, numbers=key, options=key)


def draw_seeded(spec: ProblemSpec, *, version: str, registry: Mapping[str, str], seed: int) -> Variant:
    """Draw the variant of an open seed (``grade show ITEM --seed N``); otherwise as :func:`draw`."""
    return _draw(spec, version, registry, numbers=seeded_key(seed), options=seeded_key(seed, spec.id))


def _draw(
    spec: ProblemSpec, version: str, registry: Mapping[str, str], *, numbers: bytes, options: bytes
) -> Variant:
    solved = solve(spec, RandomStream.of_key(numbers, "parameters"))
    try:
        return _written(spec, version, registry, solved, RandomStream.of_key(options, "options"))
    except DrawError as error:  # in a quiz or an export it may be any of a hundred items
        error.where = f"{spec.id}, {error.where}" if error.where else spec.id
        raise


def family_size(spec: ProblemSpec, limit: int = 200) -> int:
    """Estimate how many distinct answers an item's variants have, at most `limit`.

    Parameters
    ----------
    spec : ProblemSpec
    limit : int
        Counting stops here.

    Returns
    -------
    int
        A lower bound found by drawing seeds 0, 1, 2 … until `limit` different answers were seen, or
        three times `limit` draws were made.  An item that draws nothing has one answer, times the
        selections from its pool.

    Raises
    ------
    engine.errors.DrawError
        A seed gives no variant.
    """
    keys: set[Any] = set()
    pools = 1
    # Open seeds: the count must be the same on every machine, and needs no course.
    for seed in range(3 * limit):
        solved = solve(spec, RandomStream.of_key(seeded_key(seed), "parameters"))
        signatures = [draft.signature for _, draft in solved.fields]
        pools = 1
        for signature in signatures:
            pools *= signature[1] if signature[0] == "pool" else 1
        keys.add(tuple(signatures))
        if len(keys) * pools >= limit or not solved.is_random:
            break
    return min(len(keys) * pools, limit)


def _written(
    spec: ProblemSpec, version: str, registry: Mapping[str, str], solved: SolvedDraw, stream: RandomStream
) -> Variant:
    renderer = renderer_of(solved, registry)
    parts = tuple(part_of(field, draft, renderer, stream) for field, draft in solved.fields)
    differs = (PRINTED_DIFFERS,) if differs_from_printed(spec) else ()
    return Variant(
        id=_variant_id(spec.id, version, solved.drawn, parts),
        item=spec.id,
        item_version=version,
        title=spec.title,
        stem=renderer.text(spec.stem, "stem"),
        parts=parts,
        values=solved.drawn,
        expressions=expressions_of(spec),
        notes=(*differs, *_errata(spec, renderer, after=False)),
        told_after=errata_after_answer(spec, renderer),
        hints=tuple(renderer.text(hint, "hint") for hint in spec.hints),
        solution=solution_of(spec, renderer),
    )


def renderer_of(solved: SolvedDraw, registry: Mapping[str, str]) -> FieldRenderer:
    """Return what renders the texts of an item for these numbers."""
    return FieldRenderer({**solved.values, **solved.drawn}, _answers(solved), registry)


def solution_of(spec: ProblemSpec, renderer: FieldRenderer) -> RenderedText | None:
    """Return the worked solution, which alone may show the keys."""
    full = FieldRenderer({**renderer.names, **renderer.answers}, {}, renderer.registry)
    return None if spec.solution is None else full.text(spec.solution, "solution")


def errata_after_answer(spec: ProblemSpec, renderer: FieldRenderer) -> tuple[RenderedText, ...]:
    """Return the errata that are shown after the item."""
    return _errata(spec, renderer, after=True)


def _errata(spec: ProblemSpec, renderer: FieldRenderer, *, after: bool) -> tuple[RenderedText, ...]:
    """Return the errata that are shown with the item, or those that are shown after it."""
    return tuple(
        renderer.text(erratum.note, f"erratum {erratum.id}")
        for erratum in spec.errata
        if erratum.note and reveals_key(erratum) is after
    )


def _answers(solved: SolvedDraw) -> dict[str, Any]:
    """Return the keys as the solution may show them: numbers to the places asked for."""
    answers = {}
    for field, draft in solved.fields:
        if draft.value is None:
            continue
        name = "key" if field.id == "answer" else field.id
        # Entries asked to different places, as by significant figures, are shown in full.
        places = set(draft.places)
        place = places.pop() if len(places) == 1 else None
        value = draft.value
        answers[name] = " ".join(map(str, value)) if isinstance(value, tuple) else figure_of(value, place)
    return answers


def part_of(field: AnswerField, draft: FieldDraft, renderer: FieldRenderer, stream: RandomStream) -> Part:
    """Return the answer field that a draft gives; the stream orders its options."""
    part = draft.build(renderer, stream)
    prompt: RenderedText | None = (
        None if field.prompt is None else renderer.text(field.prompt, f"prompt of {field.id}")
    )
    settings = part.settings
    if field.id != "answer":
        settings = {**settings, **StepSettings(field.follow_through, field.invariants).as_json()}
    return replace(part, id=field.id, points=field.points, prompt=prompt, settings=settings)


def expressions_of(spec: ProblemSpec) -> dict[str, str]:
    """Return what follow-through evaluates again: derived values, steps, and their misconceptions."""
    if not spec.steps:
        return {}
    expressions = dict(spec.derived)
    for step in spec.steps:
        key = getattr(step.answer, "key", None)
        if key is not None:
            expressions[step.id] = key
            for misconception in step.misconceptions:
                expressions[misconception_name(step.id, misconception.id)] = misconception.expr
    return expressions


def _variant_id(item: str, version: str, drawn: Mapping[str, DrawnValue], parts: tuple[Part, ...]) -> str:
    values = {name: [list(value.shape), list(value.entries)] for name, value in drawn.items()}
    order = [[o.text.plain for o in (*part.prompts, *part.options)] for part in parts]
    text = json.dumps(
        [item, version, values, order], ensure_ascii=True, sort_keys=True, separators=(",", ":")
    )
    # 48 bits: two variants of one item with the same id are not to be expected below a million of them.
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]
