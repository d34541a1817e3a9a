"""What an item says to cover stands in the syllabus, and in a lecture that the item cites."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.spec.wording import did_you_mean

__all__ = ["check"]

_OF_DOCUMENT = re.compile(r"^(S[0-9])-")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield unknown, doubled and unsupported entries of `covers`, and an item that covers nothing."""
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
