"""The item's id is its file's name, and every name is defined once."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.items.checks.reading import AnswerSite, CheckContext, Where, mapping
from engine.text.words import did_you_mean, join_words

__all__ = [
    "check_errata",
    "check_fields",
    "check_identity",
    "check_mistakes",
    "check_names",
    "check_parts",
    "check_points",
    "check_source",
    "unique_ids",
]

# What templates and expressions already mean by these.
_TAKEN = {"key": "the key", "loop": "the templates' loops", "answer": "the answer"}


def check_identity(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield an id that isn't the file's name, or isn't the function's name for code."""
    item = reading.at("id")
    if not isinstance(item, str):
        return
    if reading.path is not None and item != reading.path.stem:
        yield reading.fault(("id",), f"the id must be the file's name, '{reading.path.stem}', not '{item}'")
    function = reading.at("answer", "function")
    if reading.at("answer", "type") == "code" and isinstance(function, str):
        wanted = function.replace("_", "-").lower()
        if item != wanted:
            yield reading.fault(("id",), f"a code exercise's id is its function with hyphens, '{wanted}'")


def check_names(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield names that are defined twice, or that the language already uses."""
    defined: dict[str, str] = {}
    for loc, name, what in _definitions(reading):
        key = what != "a step"
        if keyword.iskeyword(name):
            yield reading.fault(
                loc, f"'{name}' is a word of the expression language; choose another name", key=key
            )
        elif name in _TAKEN:
            yield reading.fault(
                loc, f"'{name}' already stands for {_TAKEN[name]}; choose another name", key=key
            )
        elif name in defined:
            yield reading.fault(loc, f"'{name}' is the name of {defined[name]} already", key=key)
        defined.setdefault(name, what)


def _definitions(reading: CheckContext) -> Iterator[tuple[Where, str, str]]:
    for name in mapping(reading.at("parameters")):
        yield ("parameters", name), name, "a parameter"
    for name in mapping(reading.at("derived")):
        yield ("derived", name), name, "a derived value"
    for loc, name in reading.step_ids():
        yield loc, name, "a step"


# ----------------------------------------------------------------------------------------------------
# An item has one answer or steps, and points that add up.


def check_parts(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield an item with both ``answer`` and ``steps`` or neither, and code inside a step."""
    answer, steps = reading.at("answer"), reading.at("steps")
    if answer is not None and steps:
        yield reading.fault(("steps",), "an item has either 'answer' or 'steps', not both", key=True)
    if answer is None and not steps:
        yield reading.fault((), "the item asks for nothing: give it 'answer' or 'steps'")
    for where, _ in reading.entries("steps"):
        if reading.at(*where, "answer", "type") == "code":
            yield reading.fault(
                (*where, "answer", "type"), "a step can't ask for code; code is an item of its own"
            )


def check_points(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield points of an item that aren't the sum of its steps or checks."""
    steps = [reading.at(*where, "points") for where, _ in reading.entries("steps")]
    if steps:
        yield from _sum(reading, [1.0 if points is None else points for points in steps], "steps")
    if reading.at("answer", "type") == "code":
        checks = [reading.at(*where, "points") for where, _ in reading.entries("answer", "checks")]
        yield from _sum(reading, [0.0 if points is None else points for points in checks], "checks")


def _sum(reading: CheckContext, parts: list[object], what: str) -> Iterator[Diagnostic]:
    numbers = [float(p) for p in parts if isinstance(p, int | float) and not isinstance(p, bool)]
    if len(numbers) != len(parts) or not all(math.isfinite(p) and p >= 0 for p in numbers):
        return
    total, points = sum(numbers), reading.at("points")
    if total == 0 and what == "checks" and numbers:
        yield reading.fault(
            ("answer", "checks"), "no check earns a point; give some of them 'points'", key=True
        )
    elif isinstance(points, int | float) and not isinstance(points, bool) and abs(points - total) > 1e-9:
        message = (
            f"the points of the {what} sum to {total:g}, not {points}; correct one, or leave this line out"
        )
        yield reading.fault(("points",), message)


# ----------------------------------------------------------------------------------------------------
# Numbers, tokens, orderings and matchings say everything that their marking needs.


def check_fields(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield what is missing, doubled or contradictory in the other answer types."""
    for site in reading.answers():
        if site.type in ("number", "vector", "matrix"):
            yield from _numeric(reading, site)
        elif site.type == "token":
            yield from _token(reading, site)
        elif site.type == "ordering":
            yield from unique_ids(reading, (*site.loc, "cards"), "card")
            yield from _equal_cards(reading, site)
            yield from _drawn(reading, site, "cards")
        elif site.type == "matching":
            yield from _matching(reading, site)


def _numeric(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    decimals, significant = site.data.get("decimals"), site.data.get("significant")
    if decimals is None and significant is None and site.data.get("tolerance") is None:
        message = "say how the answer is rounded, 'decimals' or 'significant', or state a 'tolerance'"
        yield reading.fault(site.loc, message)
    elif decimals is not None and significant is not None:
        yield reading.fault(
            (*site.loc, "significant"), "give either 'decimals' or 'significant', not both", key=True
        )
    working = site.data.get("working_decimals")
    if isinstance(working, int) and isinstance(decimals, int) and working < decimals:
        message = f"intermediates can't be rounded to fewer decimals ({working}) than the answer ({decimals})"
        yield reading.fault((*site.loc, "working_decimals"), message)


def _token(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    accepted, key = site.data.get("accepted"), site.data.get("key")
    if accepted and key is not None:
        yield reading.fault((*site.loc, "key"), "give either 'accepted' or 'key', not both", key=True)
    elif not accepted and key is None:
        yield reading.fault(site.loc, "say what is right: 'accepted' texts, or a 'key'")
    for where, text in reading.texts(*site.loc, "accepted"):
        if not text.strip():
            yield reading.fault(where, "an accepted text is empty")


def _matching(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    yield from unique_ids(reading, (*site.loc, "targets"), "target")
    yield from _equal_texts(reading, (*site.loc, "targets"), "target")
    yield from _equal_texts(reading, (*site.loc, "prompts"), "prompt")
    yield from _drawn(reading, site, "prompts")
    targets = [reading.at(*where, "id") for where, _ in reading.entries(*site.loc, "targets")]
    known = [name for name in targets if isinstance(name, str)]
    for where, _ in reading.entries(*site.loc, "prompts"):
        target = reading.at(*where, "target")
        if isinstance(target, str) and target not in known:
            yield reading.fault(
                (*where, "target"), f"there is no target '{target}'" + did_you_mean(target, known)
            )


def _drawn(reading: CheckContext, site: AnswerSite, pool: str) -> Iterator[Diagnostic]:
    """Yield a `draw` that asks for more than there is."""
    draw, there = site.data.get("draw"), len(list(reading.entries(*site.loc, pool)))
    if isinstance(draw, int) and draw > there:
        yield reading.fault((*site.loc, "draw"), f"{draw} {pool} can't be drawn from {there}")


def _equal_cards(reading: CheckContext, site: AnswerSite) -> Iterator[Diagnostic]:
    """Yield cards with equal texts, unless they belong to some variants only."""
    cards = [where for where, _ in reading.entries(*site.loc, "cards")]
    if all(reading.at(*where, "when") is None for where in cards):
        yield from _equal_texts(reading, (*site.loc, "cards"), "card")


def unique_ids(reading: CheckContext, loc: Where, what: str) -> Iterator[Diagnostic]:
    """Yield ids that stand twice in the list at ``loc``."""
    seen: set[str] = set()
    for where, _ in reading.entries(*loc):
        name = reading.at(*where, "id")
        if isinstance(name, str) and name in seen:
            yield reading.fault((*where, "id"), f"a {what} with the id '{name}' stands above already")
        elif isinstance(name, str):
            seen.add(name)


def _equal_texts(reading: CheckContext, loc: Where, what: str) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for where, _ in reading.entries(*loc):
        text = reading.at(*where, "text")
        if isinstance(text, str) and " ".join(text.split()) in seen:
            yield reading.fault((*where, "text"), f"this {what} has the text of one above")
        elif isinstance(text, str):
            seen.add(" ".join(text.split()))


# ----------------------------------------------------------------------------------------------------
# Misconceptions are known: each has a sentence, here or in the registry.


def check_mistakes(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield misconceptions that stand twice, and ids without a sentence."""
    if reading.at("misconceptions") and reading.at("steps"):
        message = "the misconceptions of an item with steps stand in its steps"
        yield reading.fault(("misconceptions",), message, key=True)
    holders: list[Where] = [(), *(where for where, _ in reading.entries("steps"))]
    for holder in holders:
        loc = (*holder, "misconceptions")
        yield from unique_ids(reading, loc, "misconception")
        for where, _ in reading.entries(*loc):
            yield from _known(reading, where, "id")
    for site in reading.answers():
        for where, _ in reading.entries(*site.loc, "options"):
            if reading.at(*where, "misconception") is not None:
                yield from _known(reading, where, "misconception")
                if reading.at(*where, "correct") is True:
                    message = "the right option can't be a misconception"
                    yield reading.fault((*where, "misconception"), message, key=True)


def _known(reading: CheckContext, where: Where, name: str) -> Iterator[Diagnostic]:
    mistake = reading.at(*where, name)
    if reading.registry is None or not isinstance(mistake, str) or mistake in reading.registry:
        return
    if reading.at(*where, "feedback") is None:
        otherwise = "; give it 'feedback' here, or a sentence in misconceptions.yaml"
        message = f"'{mistake}' isn't in the registry" + did_you_mean(mistake, reading.registry, otherwise)
        yield reading.fault((*where, name), message)


# ----------------------------------------------------------------------------------------------------
# Faults of a source are declared where they are, and refer to what is printed.


def check_errata(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield a status that the errata don't bear out, and letters that aren't printed.

    An item that shows the printed exercise and lists errata has the status ``erratum`` (or
    ``disputed``); an item of our own may note a fault of its source and be sound.
    """
    status, errata = reading.at("status"), list(reading.entries("errata"))
    if status == "erratum" and not errata:
        yield reading.fault(("status",), "the status is 'erratum', but 'errata' doesn't say which")
    if status in (None, "ok") and errata and reading.at("printed") is not None:
        yield reading.fault(("errata",), "a printed exercise with errata needs 'status: erratum'", key=True)
    letters = mapping(reading.at("printed", "options"))
    yield from _printed_key(reading, letters)
    seen: set[str] = set()
    for where, _ in errata:
        yield from _erratum(reading, where, letters)
        name = reading.at(*where, "id")
        if isinstance(name, str) and name in seen:
            yield reading.fault((*where, "id"), f"the erratum '{name}' stands above already")
        elif isinstance(name, str):
            seen.add(name)


def _printed_key(reading: CheckContext, letters: dict[str, object]) -> Iterator[Diagnostic]:
    key = reading.at("printed", "key")
    for where, letter in [(("printed", "key"), key), *reading.entries("printed", "key")]:
        if isinstance(letter, str) and letters and letter not in letters:
            yield reading.fault(
                where, f"'{letter}' isn't a printed letter; printed are {join_words(letters, 'or', 12)}"
            )
    for where, _ in reading.entries("errata"):
        if reading.at(*where, "kind") == "no_correct_option" and isinstance(key, str | list):
            message = "an exercise without a correct option has 'key: null'"
            yield reading.fault(("printed", "key"), message, key=True)


def _erratum(reading: CheckContext, where: Where, letters: dict[str, object]) -> Iterator[Diagnostic]:
    intended = reading.at(*where, "intended_option")
    if isinstance(intended, str) and intended not in letters:
        otherwise = (
            f"; printed are {join_words(letters, 'or', 12)}"
            if letters
            else "; there is no 'printed' exercise here"
        )
        yield reading.fault((*where, "intended_option"), f"'{intended}' isn't a printed letter{otherwise}")
    if reading.at(*where, "accept_intended") is True and intended is None:
        yield reading.fault((*where, "accept_intended"), "say which letter: 'intended_option'", key=True)


def check_source(reading: CheckContext) -> Iterator[Diagnostic]:
    """Yield background knowledge that is attributed to a place in a lecture."""
    sources: list[Where] = [("source",), *(where for where, _ in reading.entries("source"))]
    for where in sources:
        if reading.at(*where, "document") != "background":
            continue
        for name in ("file", "section", "item", "equations"):
            if reading.at(*where, name):
                message = f"background knowledge has no '{name}'; name the lecture, or leave this out"
                yield reading.fault((*where, name), message, key=True)
