"""Sources name a lecture that exists, and its equations by the numbers that it prints."""

from __future__ import annotations

from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.spec.schema import Source

__all__ = ["DOCUMENTS", "check"]

DOCUMENTS = {
    "S0": "000_fe1562997ed4e4a6.txt",
    "S1": "001_a40668197af62c5b.txt",
    "S2": "002_d49dd57be4939f51.txt",
    "S3": "003_5ac9e12b91a09fd5.txt",
    "S4": "004_27672af9cede3d64.txt",
}
# S0 prints three equations twice (F-06): both numbers are cited, so that the citation is unambiguous.
# S3 uses 5 twice (F-11); its section tells the two apart. The others number nothing.
EQUATIONS = {
    "S0": ("1=6", "2=5", "3=4", "7", "8", "9", "10"),
    "S3": ("1", "2", "3", "4", "5", "6", "7", "8", "9"),
}


def check(subject: Subject) -> Iterator[Finding]:
    """Yield what is wrong with the citations."""
    many = isinstance(subject.spec.source, tuple)
    for index, source in enumerate(subject.spec.sources):
        loc: tuple[int | str, ...] = ("source", index) if many else ("source",)
        yield from _one(subject, source, loc)


def _one(subject: Subject, source: Source, loc: tuple[int | str, ...]) -> Iterator[Finding]:
    if source.document == "background":  # the loader has seen that it cites no place
        return
    wanted = DOCUMENTS[source.document]
    if source.file != wanted:
        yield subject.fault(
            "sources",
            f"the file doesn't belong to {source.document}",
            (*loc, "file"),
            expected=wanted,
            got=source.file or "no file",
        )
    if not (source.section or source.item or source.equations):
        yield subject.fault(
            "sources", "the source names no place in its document", loc, expected="section, item or equations"
        )
    known = EQUATIONS.get(source.document, ())
    for index, equation in enumerate(source.equations):
        if equation not in known:
            yield subject.fault(
                "sources",
                f"{source.document} has no equation {equation!r}",
                (*loc, "equations", index),
                expected=f"one of {', '.join(known)}" if known else "no equation numbers: none are printed",
            )
