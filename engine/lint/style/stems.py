"""Who reads the last sentence of a stem knows what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.lint.finding import Finding
from engine.lint.subject import Loc, Subject

__all__ = ["asks", "check"]

_VERBS = (
    "answer arrange assign assume calculate choose combine complete compute count decide describe determine "
    "draw enter evaluate express fill find follow give keep list match name order pick put rank read round "
    "say select show sort state tell translate type use work write"
)
_INSTRUCTION = re.compile(
    rf"^(?:then |now |first |and |next |finally )?(?:{'|'.join(_VERBS.split())})\b", re.I
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\"'`$])|(?<=[:;])\s+|\n\n+")
_LAST = 3  # an instruction may be followed by how to round and how to write the answer


def asks(text: str) -> bool:
    """Tell whether one of the last sentences of a plain text is a question or an instruction."""
    sentences = [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]
    return any(
        sentence.rstrip("\"')").endswith("?") or _INSTRUCTION.match(sentence)
        for sentence in sentences[-_LAST:]
    )


def check(subject: Subject) -> Iterator[Finding]:
    """Yield a stem (or, with several steps, a prompt) that asks nothing."""
    if subject.is_code:
        return  # the signature says what is to be written
    for variant in subject.variants[:1]:
        asked: list[tuple[str, Loc]] = (
            [
                (part.prompt.plain, (*subject.loc_of(part.id), "prompt"))
                for part in variant.parts
                if part.prompt
            ]
            if subject.spec.steps
            else [(variant.stem.plain, ("stem",))]
        )
        for text, loc in asked:
            if not asks(text):
                yield subject.warning(
                    "stem",
                    "the text ends neither in a question nor in an instruction",
                    loc,
                    got=text.strip()[-80:],
                    next_step='end it with what is to be done, such as "Compute …" or "Which …?"',
                )
