"""Sources name a lecture that exists, and its equations by the numbers that it prints.

Covers and needs are checked here as well: both tie an item to entries that are kept elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.authoring.lint.subject import LintFinding, LintSubject, written_texts
from engine.items import ItemSource
from engine.text.words import did_you_mean
from engine.text.yaml_errors import Loc

DOCUMENTS = {
    "S0": "000_fe1562997ed4e4a6.txt", "S1": "001_a40668197af62c5b.txt", "S2": "002_d49dd57be4939f51.txt",
    "S3": "003_5ac9e12b91a09fd5.txt", "S4": "004_27672af9cede3d64.txt",
}  # fmt: skip
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
        yield from _of_source(subject, source, loc)


def _of_source(subject: LintSubject, source: ItemSource, loc: tuple[int | str, ...]) -> Iterator[LintFinding]:
    if source.document == "background":  # the loader has seen that it cites no place
        return
    file = DOCUMENTS[source.document]
    if source.file != file:
        message = f"the file doesn't belong to {source.document}"
        yield subject.fault(message, (*loc, "file"), expected=file, got=source.file or "no file")
    if not (source.section or source.item or source.equations):
        yield subject.fault(
            "the source names no place in its document", loc, expected="section, item or equations"
        )
    numbers = EQUATIONS.get(source.document, ())
    for index, equation in enumerate(source.equations):
        if equation not in numbers:
            yield subject.fault(
                f"{source.document} has no equation {equation!r}",
                (*loc, "equations", index),
                expected=f"one of {', '.join(numbers)}"
                if numbers
                else "no equation numbers: none are printed",
            )


_OF_DOCUMENT = re.compile(r"^(S[0-9])-")
# read before answering; solution and feedback may look ahead
_BEFORE_ANSWERING = frozenset({"stem", "prompt", "option", "hint"})


def check_covers(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield entries of `covers` that are unknown, listed twice, or of a document that isn't cited."""
    spec = subject.spec
    cited = {source.document for source in spec.sources}
    names: set[str] = set()
    for index, name in enumerate(spec.covers):
        loc = ("covers", index)
        document = _OF_DOCUMENT.match(name)
        if name not in subject.syllabus:
            message = f"the syllabus has no entry {name!r}"
            entries = sorted(subject.syllabus)
            yield subject.fault(message + did_you_mean(name, entries), loc)
        elif name in names:
            yield subject.fault(f"the entry {name!r} appears here twice", loc)
        elif document is not None and document[1] not in cited:
            message = f"the item says to cover {name} and doesn't cite {document[1]}"
            step = f"add {document[1]} to the item's source, or drop the entry"
            yield subject.fault(message, loc, next_step=step)
        names.add(name)


def check_needs(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield entries of `needs` that are unknown or listed twice, and terms that a text uses without them."""
    spec, terms = subject.spec, subject.terms
    for index, name in enumerate(spec.needs):
        loc = ("needs", index)
        if name not in terms:
            message = f"no term is called {name!r} in terms.yaml"
            yield subject.fault(message + did_you_mean(name, sorted(terms)), loc)
        elif name in spec.needs[:index]:
            yield subject.fault(f"the term {name!r} appears here twice", loc)
    # an item without the key leaves it to the author which quiz it fits
    if not subject.strict or "needs" not in spec.model_fields_set:
        return
    texts: list[tuple[str, Loc]] = [(spec.title, ("title",))]
    texts += [(text.text, text.loc) for text in written_texts(spec) if text.kind in _BEFORE_ANSWERING]
    for name, term in terms.items():
        if name in spec.needs:
            continue
        if name in spec.topics:
            yield subject.warning(f"the item has the topic {name!r} and doesn't need the term", ("topics",))
            continue
        for text, place in texts:
            word = term.shown_in(text)
            if word is not None:
                message = f"the text says {word!r}, which students know only after {term.title}"
                step = f"add {name} to the item's needs, or say it in other words"
                yield subject.warning(message, place, next_step=step)
                break
