"""Sources name a lecture that exists, and its equations by the numbers that it prints."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.authoring.lint.subject import LintFinding, LintSubject, written_texts
from engine.items import ItemSource
from engine.text.words import did_you_mean
from engine.text.yaml_errors import Loc

__all__ = ["DOCUMENTS", "check", "check_covers"]

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


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield what is wrong with the citations."""
    many = isinstance(subject.spec.source, tuple)
    for index, source in enumerate(subject.spec.sources):
        loc: tuple[int | str, ...] = ("source", index) if many else ("source",)
        yield from _one(subject, source, loc)


def _one(subject: LintSubject, source: ItemSource, loc: tuple[int | str, ...]) -> Iterator[LintFinding]:
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


# ----------------------------------------------------------------------------------------------------
# What an item says to cover and to need is known, cited, and true of its texts.

_OF_DOCUMENT = re.compile(r"^(S[0-9])-")
# what students read before they have answered; solution and feedback may look ahead
_BEFORE_ANSWERING = frozenset({"stem", "prompt", "option", "hint"})


def check_covers(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield entries of `covers` and `needs` that are unknown, doubled or unsupported, and missing needs."""
    yield from _covers(subject)
    yield from _needs(subject)


def _covers(subject: LintSubject) -> Iterator[LintFinding]:
    spec = subject.spec
    cited = {source.document for source in spec.sources}
    seen: set[str] = set()
    for index, name in enumerate(spec.covers):
        loc = ("covers", index)
        document = _OF_DOCUMENT.match(name)
        if name not in subject.syllabus:
            message = f"the syllabus has no entry {name!r}"
            known = sorted(subject.syllabus)
            yield subject.fault("covers", message + did_you_mean(name, known), loc)
        elif name in seen:
            yield subject.fault("covers", f"the entry {name!r} stands here twice", loc)
        elif document is not None and document[1] not in cited:
            yield subject.fault(
                "covers",
                f"the item says to cover {name} and doesn't cite {document[1]}",
                loc,
                next_step=f"add {document[1]} to the item's source, or drop the entry",
            )
        seen.add(name)


def _needs(subject: LintSubject) -> Iterator[LintFinding]:
    spec, terms = subject.spec, subject.terms
    for index, name in enumerate(spec.needs):
        loc = ("needs", index)
        if name not in terms:
            message = f"no term is called {name!r} in terms.yaml"
            yield subject.fault("needs", message + did_you_mean(name, sorted(terms)), loc)
        elif name in spec.needs[:index]:
            yield subject.fault("needs", f"the term {name!r} stands here twice", loc)
    # an item that says nothing of its needs leaves it to the author which quiz it goes into
    if not subject.strict or "needs" not in spec.model_fields_set:
        return
    texts: list[tuple[str, Loc]] = [(spec.title, ("title",))]
    texts += [(text.text, text.loc) for text in written_texts(spec) if text.kind in _BEFORE_ANSWERING]
    for name, term in terms.items():
        if name in spec.needs:
            continue
        if name in spec.topics:
            yield subject.warning(
                "needs", f"the item has the topic {name!r} and doesn't need the term", ("topics",)
            )
            continue
        for text, place in texts:
            word = term.shown_in(text)
            if word is not None:
                yield subject.warning(
                    "needs",
                    f"the text says {word!r}, which students know only after {term.title}",
                    place,
                    next_step=f"add {name} to the item's needs, or say it in other words",
                )
                break
