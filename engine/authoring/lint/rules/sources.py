"""What an item says to cover and to need is known, cited, and true of its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Loc, Subject
from engine.lint.texts import written_texts
from engine.spec.wording import did_you_mean

__all__ = ["check"]

_OF_DOCUMENT = re.compile(r"^(S[0-9])-")
# what students read before they have answered; solution and feedback may look ahead
_BEFORE_ANSWERING = frozenset({"stem", "prompt", "option", "hint"})


def check(subject: Subject) -> Iterator[Finding]:
    """Yield entries of `covers` and `needs` that are unknown, doubled or unsupported, and missing needs."""
    yield from _covers(subject)
    yield from _needs(subject)


def _covers(subject: Subject) -> Iterator[Finding]:
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


def _needs(subject: Subject) -> Iterator[Finding]:
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
