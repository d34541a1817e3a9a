"""Names are defined once, points add up, answers are complete, mistakes and errata refer to what is there.
Choices have right and wrong options, all written by hand or all computed.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.items.checks.context import AnswerSite, CheckContext, Where, mapping, repeats
from engine.text.words import count_noun, did_you_mean, join_words


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
            yield context.fault(where, f"the distractor '{name}' appears here twice")
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
        message = f"the key can't be at position {position} of {options} (counted from 0)"
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
        yield context.fault(where, "this option appears here twice")


# What templates and expressions already mean by these words.
_RESERVED = {"key": "the key", "loop": "the templates' loops", "answer": "the answer"}


def check_identity(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield an id that isn't the file's name, or isn't the function's name for code."""
    item = context.value("id")
    if not isinstance(item, str):
        return
    if context.path is not None and item != context.path.stem:
        yield context.fault(("id",), f"the id must be the file's name, '{context.path.stem}', not '{item}'")
    function = context.value("answer", "function")
    # a student's file is called like the function, and from its name the item is found
    if context.value("answer", "type") == "code" and isinstance(function, str):
        expected = function.replace("_", "-").lower()
        if item != expected:
            yield context.fault(("id",), f"a code exercise's id is its function with hyphens, '{expected}'")


def check_names(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield names that are defined twice, or that the language already uses."""
    defined: dict[str, str] = {}
    for loc, name, kind in _definitions(context):
        key = kind != "a step"  # parameters and derived values are keys of the file, a step's id is a value
        if keyword.iskeyword(name):
            yield context.fault(
                loc, f"'{name}' is a word of the expression language; choose another name", key=key
            )
        elif name in _RESERVED:
            yield context.fault(
                loc, f"'{name}' already stands for {_RESERVED[name]}; choose another name", key=key
            )
        elif name in defined:
            yield context.fault(loc, f"'{name}' is the name of {defined[name]} already", key=key)
        defined.setdefault(name, kind)


def _definitions(context: CheckContext) -> Iterator[tuple[Where, str, str]]:
    for name in mapping(context.value("parameters")):
        yield ("parameters", name), name, "a parameter"
    for name in mapping(context.value("derived")):
        yield ("derived", name), name, "a derived value"
    for loc, name in context.texts("steps", field="id"):
        yield loc, name, "a step"


def check_parts(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield an item with both ``answer`` and ``steps`` or neither, and code inside a step."""
    answer, steps = context.value("answer"), context.value("steps")
    # `steps: []` is taken for no steps, as an editor's template may leave it there
    if answer is not None and steps:
        yield context.fault(("steps",), "an item has either 'answer' or 'steps', not both", key=True)
    if answer is None and not steps:
        yield context.fault((), "the item asks for nothing: give it 'answer' or 'steps'")
    for where in context.entries("steps"):
        # it is handed in as a file, graded in the sandbox and marked by a rubric of its own
        if context.value(*where, "answer", "type") == "code":
            yield context.fault(
                (*where, "answer", "type"), "a step can't ask for code; code is an item of its own"
            )


def check_points(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield points of an item or step that aren't the sum of its steps, checks or criteria."""
    for holder in context.holders():
        if context.value(*holder, "answer", "type") == "free_text":
            rubric = context.entries(*holder, "answer", "rubric")
            points = [context.value(*where, "points") for where in rubric]
            yield from _sum(context, points, "criteria", holder)
    steps = context.entries("steps")
    if steps:
        yield from _sum(context, [_points_of_step(context, where) for where in steps], "steps")
    if context.value("answer", "type") == "code":
        checks = [context.value(*where, "points") for where in context.entries("answer", "checks")]
        yield from _sum(context, [0.0 if points is None else points for points in checks], "checks")


def _points_of_step(context: CheckContext, step: Where) -> object:
    stated = context.value(*step, "points")
    if stated is not None or context.value(*step, "answer", "type") != "free_text":
        return 1.0 if stated is None else stated
    points = [context.value(*where, "points") for where in context.entries(*step, "answer", "rubric")]
    numbers = [p for p in points if isinstance(p, int | float) and not isinstance(p, bool)]
    return float(sum(numbers)) if numbers and len(numbers) == len(points) else None


def _sum(
    context: CheckContext, parts: list[object], parts_name: str, holder: Where = ()
) -> Iterator[Diagnostic]:
    numbers = [float(p) for p in parts if isinstance(p, int | float) and not isinstance(p, bool)]
    if len(numbers) != len(parts) or not all(math.isfinite(p) and p >= 0 for p in numbers):
        return  # a fault of its own, which the model reports
    total, points = sum(numbers), context.value(*holder, "points")
    if total == 0 and parts_name == "checks" and numbers:
        yield context.fault(
            ("answer", "checks"), "no check earns a point; give some of them 'points'", key=True
        )
    elif isinstance(points, int | float) and not isinstance(points, bool) and abs(points - total) > 1e-9:
        sums = f"the points of the {parts_name} sum to {total:g}, not {points}"
        yield context.fault((*holder, "points"), f"{sums}; correct one, or leave this line out")


def check_fields(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield what number, token, ordering, matching and free-text answers lack, say twice or contradict."""
    for site in context.answers():
        if site.type in ("number", "vector", "matrix"):
            yield from _numeric(context, site)
        elif site.type == "token":
            yield from _token(context, site)
        elif site.type == "ordering":
            yield from unique_ids(context, (*site.loc, "cards"), "card")
            # cards with a condition may say the same in different variants
            if all(context.value(*where, "when") is None for where in context.entries(*site.loc, "cards")):
                yield from _equal_texts(context, (*site.loc, "cards"), "card")
            yield from _draw(context, site, "cards")
        elif site.type == "matching":
            yield from _matching(context, site)
        elif site.type == "free_text":
            yield from unique_ids(context, (*site.loc, "rubric"), "criterion")


def _numeric(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    decimals, significant = site.data.get("decimals"), site.data.get("significant")
    # without any of them nobody, the marking included, could say how far off an answer may be
    if decimals is None and significant is None and site.data.get("tolerance") is None:
        message = "say how the answer is rounded, 'decimals' or 'significant', or state a 'tolerance'"
        yield context.fault(site.loc, message)
    elif decimals is not None and significant is not None:
        yield context.fault(
            (*site.loc, "significant"), "give either 'decimals' or 'significant', not both", key=True
        )
    working = site.data.get("working_decimals")
    if isinstance(working, int) and isinstance(decimals, int) and working < decimals:
        message = f"intermediates can't be rounded to fewer decimals ({working}) than the answer ({decimals})"
        yield context.fault((*site.loc, "working_decimals"), message)


def _token(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    accepted, key = site.data.get("accepted"), site.data.get("key")
    if accepted and key is not None:
        yield context.fault((*site.loc, "key"), "give either 'accepted' or 'key', not both", key=True)
    elif not accepted and key is None:
        yield context.fault(site.loc, "say what is right: 'accepted' texts, or a 'key'")
    for where, text in context.texts(*site.loc, "accepted"):
        if not text.strip():
            yield context.fault(where, "an accepted text is empty")


def _matching(context: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    yield from unique_ids(context, (*site.loc, "targets"), "target")
    yield from _equal_texts(context, (*site.loc, "targets"), "target")
    yield from _equal_texts(context, (*site.loc, "prompts"), "prompt")
    yield from _draw(context, site, "prompts")
    target_ids = context.ids_in((*site.loc, "targets"))
    for where, target in context.texts(*site.loc, "prompts", field="target"):
        if target not in target_ids:
            yield context.fault(where, f"there is no target '{target}'" + did_you_mean(target, target_ids))


def _draw(context: CheckContext, site: AnswerSite, pool: str) -> Iterator[Diagnostic]:
    draw, size = site.data.get("draw"), len(context.entries(*site.loc, pool))
    if isinstance(draw, int) and draw > size:
        yield context.fault((*site.loc, "draw"), f"{draw} {pool} can't be drawn from {size}")


def unique_ids(context: CheckContext, loc: Where, noun: str) -> Iterator[Diagnostic]:
    """Yield ids that appear twice in the list at ``loc``."""
    for where, name in repeats(context.texts(*loc, field="id")):
        yield context.fault(where, f"a {noun} with the id '{name}' is defined above already")


def _equal_texts(context: CheckContext, loc: Where, noun: str) -> Iterator[Diagnostic]:
    for where, _ in repeats(context.texts(*loc, field="text")):
        yield context.fault(where, f"this {noun} has the text of one above")


def check_mistakes(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield misconceptions that appear twice, and ids without a sentence."""
    # the mistake of a step gives another value of that step, so that it can only be recognised there
    if context.value("misconceptions") and context.value("steps"):
        message = "the misconceptions of an item with steps belong in its steps"
        yield context.fault(("misconceptions",), message, key=True)
    for holder in context.holders():
        loc = (*holder, "misconceptions")
        yield from unique_ids(context, loc, "misconception")
        for where in context.entries(*loc):
            yield from _with_sentence(context, where, "id")
    for site in context.answers():
        for where in context.entries(*site.loc, "options"):
            if context.value(*where, "misconception") is not None:
                yield from _with_sentence(context, where, "misconception")
                if context.value(*where, "correct") is True:
                    message = "the right option can't be a misconception"
                    yield context.fault((*where, "misconception"), message, key=True)


def _with_sentence(context: CheckContext, where: Where, name: str) -> Iterator[Diagnostic]:
    mistake = context.value(*where, name)
    if context.registry is None or not isinstance(mistake, str) or mistake in context.registry:
        return
    if context.value(*where, "feedback") is None:
        otherwise = "; give it 'feedback' here, or a sentence in misconceptions.yaml"
        message = f"'{mistake}' isn't in the registry" + did_you_mean(mistake, context.registry, otherwise)
        yield context.fault((*where, name), message)


def check_errata(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield a status that the errata don't bear out, and letters that aren't printed.

    An item that shows the printed exercise and lists errata has the status ``erratum`` (or
    ``disputed``); an item of our own may note a fault of its source and be sound.
    """
    status, errata = context.value("status"), context.entries("errata")
    if status == "erratum" and not errata:
        yield context.fault(("status",), "the status is 'erratum', but 'errata' doesn't say which")
    # an item of our own may note a fault of its source; only what is printed can itself be faulty
    if status in (None, "ok") and errata and context.value("printed") is not None:
        yield context.fault(("errata",), "a printed exercise with errata needs 'status: erratum'", key=True)
    letters = mapping(context.value("printed", "options"))
    yield from _printed_key(context, letters)
    for where in errata:
        yield from _erratum(context, where, letters)
    for where, name in repeats(context.texts("errata", field="id")):
        yield context.fault(where, f"the erratum '{name}' is defined above already")


def _printed_key(context: CheckContext, letters: dict[str, object]) -> Iterator[Diagnostic]:
    key = context.value("printed", "key")
    places: list[Where] = [("printed", "key"), *context.entries("printed", "key")]
    for where in places:
        letter = context.value(*where)
        if isinstance(letter, str) and letters and letter not in letters:
            yield context.fault(
                where, f"'{letter}' isn't a printed letter; printed are {join_words(letters, 'or', 12)}"
            )
    for where in context.entries("errata"):
        if context.value(*where, "kind") == "no_correct_option" and isinstance(key, str | list):
            message = "an exercise without a correct option has 'key: null'"
            yield context.fault(("printed", "key"), message, key=True)


def _erratum(context: CheckContext, where: Where, letters: dict[str, object]) -> Iterator[Diagnostic]:
    intended = context.value(*where, "intended_option")
    if isinstance(intended, str) and intended not in letters:
        otherwise = (
            f"; printed are {join_words(letters, 'or', 12)}"
            if letters
            else "; there is no 'printed' exercise here"
        )
        yield context.fault((*where, "intended_option"), f"'{intended}' isn't a printed letter{otherwise}")
    if context.value(*where, "accept_intended") is True and intended is None:
        yield context.fault((*where, "accept_intended"), "say which letter: 'intended_option'", key=True)


def check_source(context: CheckContext) -> Iterator[Diagnostic]:
    """Yield background knowledge that is attributed to a place in a lecture."""
    # students look the place up, and would search the slides in vain
    sources: list[Where] = [("source",), *context.entries("source")]  # one source, or a list of them
    for where in sources:
        if context.value(*where, "document") != "background":
            continue
        for name in ("file", "section", "item", "equations"):
            if context.value(*where, name):
                message = f"background knowledge has no '{name}'; name the lecture, or leave this out"
                yield context.fault((*where, name), message, key=True)


STRUCTURE_CHECKS = (
    check_identity,
    check_names,
    check_parts,
    check_points,
    check_fields,
    check_mistakes,
    check_errata,
    check_source,
    check_choices,
)
