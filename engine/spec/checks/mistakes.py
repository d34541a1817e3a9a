"""Misconceptions are known: each has a sentence, here or in the registry."""

from __future__ import annotations

from collections.abc import Iterator

from engine.errors import Diagnostic
from engine.spec.checks.fields import unique_ids
from engine.spec.checks.reading import Reading, Where
from engine.spec.wording import did_you_mean

__all__ = ["check_mistakes"]


def check_mistakes(reading: Reading) -> Iterator[Diagnostic]:
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


def _known(reading: Reading, where: Where, name: str) -> Iterator[Diagnostic]:
    mistake = reading.at(*where, name)
    if reading.registry is None or not isinstance(mistake, str) or mistake in reading.registry:
        return
    if reading.at(*where, "feedback") is None:
        otherwise = "; give it 'feedback' here, or a sentence in misconceptions.yaml"
        message = f"'{mistake}' isn't in the registry" + did_you_mean(mistake, reading.registry, otherwise)
        yield reading.fault((*where, name), message)
