"""Numbers, tokens, orderings and matchings say everything that their marking needs."""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.reading import AnswerSite, Reading, Where
from engine.spec.wording import did_you_mean

__all__ = ["check_fields", "unique_ids"]


def check_fields(reading: Reading) -> Iterator[Diagnostic]:
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


def _numeric(reading: Reading, site: AnswerSite) -> Iterator[Diagnostic]:
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


def _token(reading: Reading, site: AnswerSite) -> Iterator[Diagnostic]:
    accepted, key = site.data.get("accepted"), site.data.get("key")
    if accepted and key is not None:
        yield reading.fault((*site.loc, "key"), "give either 'accepted' or 'key', not both", key=True)
    elif not accepted and key is None:
        yield reading.fault(site.loc, "say what is right: 'accepted' texts, or a 'key'")
    for where, text in reading.texts(*site.loc, "accepted"):
        if not text.strip():
            yield reading.fault(where, "an accepted text is empty")


def _matching(reading: Reading, site: AnswerSite) -> Iterator[Diagnostic]:
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


def _drawn(reading: Reading, site: AnswerSite, pool: str) -> Iterator[Diagnostic]:
    """Yield a `draw` that asks for more than there is."""
    draw, there = site.data.get("draw"), len(list(reading.entries(*site.loc, pool)))
    if isinstance(draw, int) and draw > there:
        yield reading.fault((*site.loc, "draw"), f"{draw} {pool} can't be drawn from {there}")


def _equal_cards(reading: Reading, site: AnswerSite) -> Iterator[Diagnostic]:
    """Yield cards with equal texts, unless they belong to some variants only."""
    cards = [where for where, _ in reading.entries(*site.loc, "cards")]
    if all(reading.at(*where, "when") is None for where in cards):
        yield from _equal_texts(reading, (*site.loc, "cards"), "card")


def unique_ids(reading: Reading, loc: Where, what: str) -> Iterator[Diagnostic]:
    """Yield ids that stand twice in the list at ``loc``."""
    seen: set[str] = set()
    for where, _ in reading.entries(*loc):
        name = reading.at(*where, "id")
        if isinstance(name, str) and name in seen:
            yield reading.fault((*where, "id"), f"a {what} with the id '{name}' stands above already")
        elif isinstance(name, str):
            seen.add(name)


def _equal_texts(reading: Reading, loc: Where, what: str) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for where, _ in reading.entries(*loc):
        text = reading.at(*where, "text")
        if isinstance(text, str) and " ".join(text.split()) in seen:
            yield reading.fault((*where, "text"), f"this {what} has the text of one above")
        elif isinstance(text, str):
            seen.add(" ".join(text.split()))
