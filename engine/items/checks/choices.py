"""Choice answers have right and wrong options, from one origin."""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.items.checks.reading import AnswerSite, CheckContext
from engine.text.words import count_noun, did_you_mean

__all__ = ["check_choices"]


def check_choices(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield choice answers without a right or wrong option, with equal ones, or of two origins."""
    for site in reading.answers():
        if site.type in ("single_choice", "multiple_choice"):
            yield from _equal_texts(reading, site)
        if site.type == "single_choice":
            yield from _single(reading, site)
        if site.type == "multiple_choice":
            yield from _multiple(reading, site)


def _right(reading: CheckContext, site: AnswerSite) -> tuple[int, int]:
    """Return how many options there are and how many are right."""
    options = [where for where, _ in reading.entries(*site.loc, "options")]
    return len(options), sum(reading.at(*where, "correct") is True for where in options)


def _conditional(reading: CheckContext, site: AnswerSite) -> bool:
    """Tell whether some option belongs to some variants only; then each draw is checked."""
    return any(reading.at(*where, "when") is not None for where, _ in reading.entries(*site.loc, "options"))


def _single(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    by_hand, computed = bool(site.data.get("options")), site.data.get("key") is not None
    if by_hand and computed:
        yield reading.fault(
            (*site.loc, "key"), "options are either written or computed: drop 'key' or 'options'", key=True
        )
    elif by_hand:
        yield from _written(reading, site)
    elif computed:
        yield from _computed(reading, site)
    else:
        yield reading.fault(site.loc, "a single choice needs 'options', or 'key' and 'distractors'")


def _written(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    count, right = _right(reading, site)
    if count < 2:
        yield reading.fault((*site.loc, "options"), "at least two options are needed", key=True)
    elif right == 0 or (right > 1 and site.data.get("draw") is None and not _conditional(reading, site)):
        pool = "; to draw one of several, say 'draw'" if right else ""
        yield reading.fault(
            (*site.loc, "options"), f"exactly one option must be correct, not {right}{pool}", key=True
        )
    else:
        yield from _draw(reading, site, count, right)
    draw = site.data.get("draw")
    if isinstance(draw, list) and draw and type(draw[0]) is int and draw[0] > 1:
        yield reading.fault((*site.loc, "draw", 0), "a single choice shows one right option, so this is 1")
    for name in ("distractors", "decimals", "key_position"):
        if site.data.get(name):
            yield reading.fault(
                (*site.loc, name), f"'{name}' has no effect on options written by hand", key=True
            )


def _computed(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    if site.data.get("draw") is not None:
        yield reading.fault((*site.loc, "draw"), "'draw' has no effect on computed options", key=True)
    known = reading.misconception_ids(site.misconceptions)
    seen: set[str] = set()
    for where, name in reading.texts(*site.loc, "distractors"):
        if name in seen:
            yield reading.fault(where, f"the distractor '{name}' stands here twice")
        elif name not in known:
            otherwise = "; list it there with its 'expr'"
            yield reading.fault(
                where, f"'{name}' isn't among 'misconceptions'{did_you_mean(name, known, otherwise)}"
            )
        seen.add(name)
    if not seen and not site.data.get("distractors"):
        yield reading.fault((*site.loc, "key"), "a computed key needs 'distractors'", key=True)
    position = site.data.get("key_position")
    if isinstance(position, int) and seen and position > len(seen):
        message = (
            f"the key can't stand at position {position} of "
            f"{count_noun(len(seen) + 1, 'option')} (counted from 0)"
        )
        yield reading.fault((*site.loc, "key_position"), message)
    elif position is not None and site.data.get("shuffle") is not False:
        yield reading.fault((*site.loc, "key_position"), "'key_position' needs 'shuffle: false'", key=True)


def _multiple(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    count, right = _right(reading, site)
    if count >= 2 and not 1 <= right < count:
        what = "no option is" if right == 0 else "all options are"
        yield reading.fault((*site.loc, "options"), f"{what} correct; mark some, but not all", key=True)
    yield from _draw(reading, site, count, right)


def _draw(reading: CheckContext, site: AnswerSite, count: int, right: int) -> Iterator[Diagnostic]:
    """Yield what can't be drawn from the options written."""
    draw = site.data.get("draw")
    if type(draw) is int and site.type == "multiple_choice" and draw > count:
        yield reading.fault((*site.loc, "draw"), f"{count_noun(draw, 'option')} can't be drawn from {count}")
    if not (isinstance(draw, list) and len(draw) == 2 and all(type(number) is int for number in draw)):
        return
    for index, (wanted, there, kind) in enumerate(
        ((draw[0], right, "right"), (draw[1], count - right, "wrong"))
    ):
        if wanted < 1:
            yield reading.fault((*site.loc, "draw", index), f"at least one {kind} option must be drawn")
        elif wanted > there:
            message = f"{count_noun(wanted, f'{kind} option')} can't be drawn from {there}"
            yield reading.fault((*site.loc, "draw", index), message)


def _equal_texts(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for where, _ in reading.entries(*site.loc, "options"):
        text = reading.at(*where, "text")
        if isinstance(text, str) and reading.at(*where, "when") is None:
            plain = " ".join(text.split())
            if plain in seen:
                yield reading.fault((*where, "text"), "this option stands here twice")
            seen.add(plain)
