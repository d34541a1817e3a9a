"""A variant that was handed out, with the keys that its item has now.

Numbers, stem and options stay as the student saw them; what is right, what known mistakes give and which
errata are shown afterwards come from the item as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any

from engine.answers import kind_of
from engine.answers.base import FieldRenderer
from engine.draws import ImpossibleDraw, RandomStream, RedrawNeeded, draw_parameter
from engine.errors import DrawError, ExpressionError
from engine.items import FixedParameter, ProblemSpec
from engine.model import ChoiceOption, DrawnValue, Part, Variant
from engine.variants.draw_variant import (
    SolvedDraw,
    errata_after_answer,
    expressions_of,
    part_of,
    renderer_of,
    solution_of,
    solve_for,
)

# A text of a pool that was corrected since is the same option if this share of it stayed, and no other text
# of the pool comes nearer than the margin. Below that a person decides: another option may have another key.
_SAME_TEXT, _MARGIN = 0.8, 0.1


def rekey(spec: ProblemSpec, variant: Variant, *, version: str, registry: Mapping[str, str]) -> Variant:
    """Return a variant with the keys of its item as it is now.

    Parameters
    ----------
    spec : ProblemSpec
    variant : Variant
        As handed out; its id, numbers, stem, options, hints and full marks stay.
    version : str
        Version of `spec`.
    registry : mapping of str to str
        Feedback sentence by misconception id.

    Raises
    ------
    DrawError
        The item asks for something else now: other numbers, other fields, options that the variant doesn't
        show, or numbers for which it has no clear key. A person must decide.

    Notes
    -----
    A ``kind: fixed`` value isn't drawn: it counts as it stands in the item now, unless students saw it in the
    stem or a prompt. Then the key for what they saw is theirs, and a person must decide.
    """
    fixed = _fixed_values(spec)
    changed = sorted(n for n, value in fixed.items() if n in variant.values and variant.values[n] != value)
    missing = sorted(set(spec.parameters) - set(variant.values) - set(fixed))
    if missing:
        raise _undecided(spec, f"the item draws {', '.join(missing)} now, which this variant doesn't have")
    # The variant may show any option of a pool, so all of them are drafted and those shown picked out again.
    widened = spec.model_copy(update=_whole_pools(spec))
    try:
        solved = solve_for(widened, {**variant.values, **fixed})
    except (RedrawNeeded, ImpossibleDraw, ExpressionError) as reason:
        cause = reason.what if isinstance(reason, ExpressionError) else str(reason)
        raise _undecided(spec, f"the item has no clear key for these numbers: {cause}") from reason
    if changed and not _looks_the_same(spec, solved, variant, registry):
        names = ", ".join(changed)
        raise _undecided(
            spec, f"the fixed value of {names} is another one now, and the text shows it to students"
        )
    return _written(spec, solved, variant, version, registry)


def _fixed_values(spec: ProblemSpec) -> dict[str, DrawnValue]:
    return {
        name: draw_parameter(parameter, RandomStream(0), {})
        for name, parameter in spec.parameters.items()
        if isinstance(parameter, FixedParameter)
    }


def _looks_the_same(
    spec: ProblemSpec, solved: SolvedDraw, variant: Variant, registry: Mapping[str, str]
) -> bool:
    """Return whether stem and prompts read as they did when the variant was handed out."""
    renderer = renderer_of(solved, registry)
    prompts = [renderer.text(step.prompt, "prompt").plain for step in spec.steps]
    handed_out = [part.prompt.plain for part in variant.parts if part.prompt is not None]
    return renderer.text(spec.stem, "stem").plain == variant.stem.plain and prompts == handed_out


def _written(
    spec: ProblemSpec, solved: SolvedDraw, variant: Variant, version: str, registry: Mapping[str, str]
) -> Variant:
    renderer = renderer_of(solved, registry)
    parts = _parts(spec, solved, renderer)
    if [(part.id, part.type) for part in parts] != [(part.id, part.type) for part in variant.parts]:
        raise _undecided(spec, "the item has other answer fields now")
    # Full marks stay as they were promised, whatever the item is worth now.
    scale = variant.points / sum(part.points for part in parts)
    return replace(
        variant,
        item_version=version,
        values={**variant.values, **_fixed_values(spec)},
        parts=tuple(
            replace(_as_shown(spec, field.answer, new, old), points=new.points * scale)
            for (field, _), new, old in zip(solved.fields, parts, variant.parts, strict=True)
        ),
        expressions=expressions_of(spec),
        told_after=errata_after_answer(spec, renderer),
        solution=solution_of(spec, renderer),
    )


def _parts(spec: ProblemSpec, solved: SolvedDraw, renderer: FieldRenderer) -> list[Part]:
    # Options are put back into the order that was shown, so any order will do here.
    stream = RandomStream(0)
    try:
        return [part_of(field, draft, renderer, stream) for field, draft in solved.fields]
    except ValueError as reason:  # a pool of more options than there are letters
        raise _undecided(spec, str(reason)) from reason


def _whole_pools(spec: ProblemSpec) -> dict[str, Any]:
    """Return the answers of a spec with pools of which everything is drawn."""
    if spec.answer is not None:
        return {"answer": _whole(spec.answer)}
    return {"steps": tuple(step.model_copy(update={"answer": _whole(step.answer)}) for step in spec.steps)}


def _whole(answer: Any) -> Any:
    if getattr(answer, "draw", None) is None:
        return answer
    # A choice draws right and wrong options; without numbers it takes all of both.
    everything = (None, None) if isinstance(answer.draw, tuple) else None
    return answer.model_copy(update={"draw": everything})


def _as_shown(spec: ProblemSpec, answer: Any, new: Part, old: Part) -> Part:
    """Return the new part with the options and prompts that were shown, in the order shown."""
    if not old.options:
        return replace(new, prompt=old.prompt)
    reworded = getattr(answer, "key", None) is None
    options = _paired(spec, old.options, new.options, reworded=reworded)
    prompts = _paired(spec, old.prompts, new.prompts, reworded=True)
    handed_out = replace(
        new,
        prompt=old.prompt,
        options=tuple(_with_current_key(*pair) for pair in options),
        prompts=tuple(_with_current_key(*pair) for pair in prompts),
    )
    ids = {now.id: old_option.id for old_option, now in (*options, *prompts)}
    try:
        return kind_of(old.type).rekeyed(handed_out, new=new, old=old, ids=ids)
    except ValueError as reason:
        raise _undecided(spec, str(reason)) from None


def _with_current_key(old_option: ChoiceOption, now: ChoiceOption) -> ChoiceOption:
    """Return an option as it was shown, with what the item says of it now."""
    return replace(now, id=old_option.id, text=old_option.text)


def _paired(
    spec: ProblemSpec, old_options: Sequence[ChoiceOption], now: Sequence[ChoiceOption], *, reworded: bool
) -> list[tuple[ChoiceOption, ChoiceOption]]:
    """Pair the options that were shown with those that the item has now, by their texts.

    With `reworded` texts may have been corrected since: a single option that is left over on both sides is
    the same one, and of several one whose text is nearly the same. Computed options have no such leave:
    another number is another option.
    """
    by_text = {_words(option): option for option in now}
    # By their texts alone options that read alike can't be told apart, and their keys may differ.
    if len(by_text) < len(now):
        raise _undecided(spec, "two options of the item read alike")
    matches = {option.id: by_text.pop(_words(option), None) for option in old_options}
    lost = [option for option in old_options if matches[option.id] is None]
    if reworded and len(lost) == len(by_text) == 1:
        (matches[lost[0].id],) = by_text.values()
        lost = []
    for option in lost:
        near = _nearest(_words(option), by_text) if reworded else None
        if near is None:
            raise _undecided(spec, f"the item has no option {_words(option)[:80]!r} any more")
        matches[option.id] = by_text.pop(near)
    return [(option, match) for option in old_options if (match := matches[option.id]) is not None]


def _nearest(text: str, known: Mapping[str, ChoiceOption]) -> str | None:
    """Return the text that is clearly a corrected form of this one; None where that isn't clear."""
    near = sorted(((SequenceMatcher(None, text, other).ratio(), other) for other in known), reverse=True)
    if not near or near[0][0] < _SAME_TEXT or (len(near) > 1 and near[0][0] - near[1][0] < _MARGIN):
        return None
    return near[0][1]


def _words(option: ChoiceOption) -> str:
    return " ".join(option.text.plain.split())


def _undecided(spec: ProblemSpec, reason: str) -> DrawError:
    return DrawError(reason, where=spec.id, next_step="decide these marks by hand, with `grade mark`")
