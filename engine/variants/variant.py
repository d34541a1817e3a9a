"""Draw a variant: numbers first, then its texts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from engine.model import Drawn, Part, Text, Variant
from engine.spec.schema import ProblemSpec
from engine.variants.errata import PRINTED_DIFFERS, differs_from_printed, gives_away
from engine.variants.figures import figure_of
from engine.variants.parts import Draft, Scribe
from engine.variants.solving import Field, Solved, solve
from engine.variants.stream import Stream, draw_key, seeded_key

__all__ = [
    "draw",
    "draw_seeded",
    "expressions_of",
    "family_size",
    "misconception_name",
    "part_of",
    "scribe_of",
    "solution_of",
    "told_after",
]


def misconception_name(step: str, misconception: str) -> str:
    """Return the name under which a variant keeps a step's misconception expression."""
    return f"{step}:{misconception}"


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
    return _draw(spec, version, registry, numbers=key, options=key)


def draw_seeded(spec: ProblemSpec, *, version: str, registry: Mapping[str, str], seed: int) -> Variant:
    """Draw the variant of an open seed (``grade show ITEM --seed N``); otherwise as :func:`draw`."""
    return _draw(spec, version, registry, numbers=seeded_key(seed), options=seeded_key(seed, spec.id))


def _draw(
    spec: ProblemSpec, version: str, registry: Mapping[str, str], *, numbers: bytes, options: bytes
) -> Variant:
    solved = solve(spec, Stream.of_key(numbers, "parameters"))
    return _written(spec, version, registry, solved, Stream.of_key(options, "options"))


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
    seen: set[Any] = set()
    pools = 1
    for seed in range(3 * limit):
        solved = solve(spec, Stream.of_key(seeded_key(seed), "parameters"))
        signatures = [draft.signature for _, draft in solved.fields]
        pools = 1
        for signature in signatures:
            pools *= signature[1] if signature[0] == "pool" else 1
        seen.add(tuple(signatures))
        if len(seen) * pools >= limit or not solved.is_random:
            break
    return min(len(seen) * pools, limit)


def _written(
    spec: ProblemSpec, version: str, registry: Mapping[str, str], solved: Solved, stream: Stream
) -> Variant:
    scribe = scribe_of(solved, registry)
    parts = tuple(part_of(field, draft, scribe, stream) for field, draft in solved.fields)
    differs = (PRINTED_DIFFERS,) if differs_from_printed(spec) else ()
    return Variant(
        id=_id(spec.id, version, solved.drawn, parts),
        item=spec.id,
        item_version=version,
        title=spec.title,
        stem=scribe.text(spec.stem, "stem"),
        parts=parts,
        values=solved.drawn,
        expressions=expressions_of(spec),
        notes=(*differs, *_errata(spec, scribe, after=False)),
        told_after=told_after(spec, scribe),
        hints=tuple(scribe.text(hint, "hint") for hint in spec.hints),
        solution=solution_of(spec, scribe),
    )


def scribe_of(solved: Solved, registry: Mapping[str, str]) -> Scribe:
    """Return what renders the texts of an item for these numbers."""
    return Scribe({**solved.values, **solved.drawn}, _answers(solved), registry)


def solution_of(spec: ProblemSpec, scribe: Scribe) -> Text | None:
    """Return the worked solution, which alone may show the keys."""
    full = Scribe({**scribe.names, **scribe.answers}, {}, scribe.registry)
    return None if spec.solution is None else full.text(spec.solution, "solution")


def told_after(spec: ProblemSpec, scribe: Scribe) -> tuple[Text, ...]:
    """Return the errata that are told after the item."""
    return _errata(spec, scribe, after=True)


def _errata(spec: ProblemSpec, scribe: Scribe, *, after: bool) -> tuple[Text, ...]:
    """Return the errata that are told with the item, or those that are told after it."""
    return tuple(
        scribe.text(erratum.note, f"erratum {erratum.id}")
        for erratum in spec.errata
        if erratum.note and gives_away(erratum) is after
    )


def _answers(solved: Solved) -> dict[str, Any]:
    """Return the keys as the solution may show them: numbers to the places asked for."""
    answers = {}
    for field, draft in solved.fields:
        if draft.value is None:
            continue
        name = "key" if field.id == "answer" else field.id
        places = set(draft.places)
        place = places.pop() if len(places) == 1 else None
        value = draft.value
        answers[name] = " ".join(map(str, value)) if isinstance(value, tuple) else figure_of(value, place)
    return answers


def part_of(field: Field, draft: Draft, scribe: Scribe, stream: Stream) -> Part:
    """Return the answer field that a draft gives; the stream orders its options."""
    part = draft.build(scribe, stream)
    prompt: Text | None = None if field.prompt is None else scribe.text(field.prompt, f"prompt of {field.id}")
    settings = dict(part.settings)
    if field.id != "answer":
        settings["follow_through"] = field.follow_through
        settings["invariants"] = list(field.invariants)
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


def _id(item: str, version: str, drawn: Mapping[str, Drawn], parts: tuple[Part, ...]) -> str:
    values = {name: [list(value.shape), list(value.entries)] for name, value in drawn.items()}
    order = [[o.text.plain for o in (*part.prompts, *part.options)] for part in parts]
    text = json.dumps(
        [item, version, values, order], ensure_ascii=True, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]
