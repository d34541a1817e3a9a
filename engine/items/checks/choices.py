"""Choice answers have right and wrong options, all written by hand or all computed."""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.items.checks.context import AnswerSite, CheckContext, repeats
from engine.text.words import count_noun, did_you_mean

__all__ = ["check_choices"]


def check_choices(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield choice answers without a right or wrong option, with equal ones, or both written and computed."""
    for site in context.answers():
        if site.type in ("single_choice", "multiple_choice"):
            yield from _equal_options(context, site)
        if site.type == "single_choice":
            yield from _single(context, site)
        if site.type == "multiple_choice":
            yield from _multiple(context, site)


def _counts(context: CheckContext, site: AnswerSite) -> tuple[int, int]:
    """Return how many options there are and how many are right."""
    options = context.entries(*site.loc, "options")
    return len(options), sum(context.value(*where, "correct") is True for where in options)


def _is_conditional(context: CheckContext, site: AnswerSite) -> bool:
    # which options a variant shows is known at the draw only; it checks them then
    return any(context.value(*where, "when") is not None for where in context.entries(*site.loc, "options"))


def _single(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    written, computed = bool(site.data.get("options")), site.data.get("key") is not None
    if written and computed:
        yield context.fault(
            (*site.loc, "key"), "options are either written or computed: drop 'key' or 'options'", key=True
        )
    elif written:
        yield from _written(context, site)
    elif computed:
        yield from _computed(context, site)
    else:
        yield context.fault(site.loc, "a single choice needs 'options', or 'key' and 'distractors'")


def _written(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    count, right = _counts(context, site)
    if count < 2:
        yield context.fault((*site.loc, "options"), "at least two options are needed", key=True)
    # several right options are a pool for `draw`, or belong to different variants
    elif right == 0 or (right > 1 and site.data.get("draw") is None and not _is_conditional(context, site)):
        pool = "; to draw one of several, say 'draw'" if right else ""
        yield context.fault(
            (*site.loc, "options"), f"exactly one option must be correct, not {right}{pool}", key=True
        )
    else:
        yield from _drawn_options(context, site, count, right)
    # `draw: [1, 3]`: the first of a single choice can only be 1
    draw = site.data.get("draw")
    if isinstance(draw, list) and draw and type(draw[0]) is int and draw[0] > 1:
        yield context.fault((*site.loc, "draw", 0), "a single choice shows one right option, so this is 1")
    for name in ("distractors", "decimals", "key_position"):
        if site.data.get(name):
            yield context.fault(
                (*site.loc, name), f"'{name}' has no effect on options written by hand", key=True
            )


def _computed(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    if site.data.get("draw") is not None:
        yield context.fault((*site.loc, "draw"), "'draw' has no effect on computed options", key=True)
    mistakes = context.ids_in(site.misconceptions)
    distractors = list(context.texts(*site.loc, "distractors"))
    twice = dict(repeats(distractors))
    for where, name in distractors:
        if where in twice:
            yield context.fault(where, f"the distractor '{name}' stands here twice")
        elif name not in mistakes:
            near = did_you_mean(name, mistakes, "; list it there with its 'expr'")
            yield context.fault(where, f"'{name}' isn't among 'misconceptions'{near}")
    count = len(distractors) - len(twice)
    if not site.data.get("distractors"):
        yield context.fault((*site.loc, "key"), "a computed key needs 'distractors'", key=True)
    # a fixed place of the key is for options in a natural order, such as growing numbers
    position = site.data.get("key_position")
    if isinstance(position, int) and 0 < count < position:
        options = count_noun(count + 1, "option")
        message = f"the key can't stand at position {position} of {options} (counted from 0)"
        yield context.fault((*site.loc, "key_position"), message)
    elif position is not None and site.data.get("shuffle") is not False:
        yield context.fault((*site.loc, "key_position"), "'key_position' needs 'shuffle: false'", key=True)


def _multiple(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    count, right = _counts(context, site)
    if count >= 2 and not 1 <= right < count:
        subject = "no option is" if right == 0 else "all options are"
        yield context.fault((*site.loc, "options"), f"{subject} correct; mark some, but not all", key=True)
    yield from _drawn_options(context, site, count, right)


def _drawn_options(context: CheckContext, site: AnswerSite, count: int, right: int) -> Iterator[Diagnostic]:
    draw = site.data.get("draw")
    # `type(…) is int`, as true is an int for isinstance
    if type(draw) is int and site.type == "multiple_choice" and draw > count:
        yield context.fault((*site.loc, "draw"), f"{count_noun(draw, 'option')} can't be drawn from {count}")
    if not (isinstance(draw, list) and len(draw) == 2 and all(type(number) is int for number in draw)):
        return
    for index, (kind, size) in enumerate((("right", right), ("wrong", count - right))):
        if draw[index] < 1:
            yield context.fault((*site.loc, "draw", index), f"at least one {kind} option must be drawn")
        elif draw[index] > size:
            message = f"{count_noun(draw[index], f'{kind} option')} can't be drawn from {size}"
            yield context.fault((*site.loc, "draw", index), message)


def _equal_options(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    # options with a condition may say the same in different variants
    always = (
        (where, text)
        for where, text in context.texts(*site.loc, "options", field="text")
        if context.value(*where[:-1], "when") is None
    )
    for where, _ in repeats(always):
        yield context.fault(where, "this option stands here twice")
