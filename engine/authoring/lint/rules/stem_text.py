"""Who reads the last sentence of a stem knows what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engine.authoring.lint.subject import TEMPLATE_SPAN, LintFinding, LintSubject, StudentText, written_texts
from engine.text.yaml_errors import Loc

__all__ = ["asks", "check", "check_undrawn", "fragments"]

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


def check(subject: LintSubject) -> Iterator[LintFinding]:
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


# ----------------------------------------------------------------------------------------------------
# What students read doesn't speak of cards that they never saw.
#
# Of a pool each variant shows a part. What a solution or hint takes from one card, its formula or its drawn
# number, is unknown to students who got others. A sentence on all cards belongs behind the words "More
# generally" (or "In general"), or into an ``{% if … %}`` of the condition under which its card is shown.

_POOLS = ("options", "prompts", "cards")
_UNDRAWN_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
_GENERAL = re.compile(r"\b(?:more generally|in general)\b.*", re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"\{% if (?:(?!\{% (?:if|endif)).)*+\{% endif %\}", re.DOTALL)
_FONT = re.compile(r"\\(?:mathbf|mathrm|hat)\{(\w+)\}|\\hat(?=\\)")
_NAME = re.compile(r"[A-Za-z_]\w*(?!\w*\()")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_KEYWORDS = {"if", "else", "and", "or", "not", "in", "is"}
_LEAST = 6  # characters of a formula that is told from others: a lone letter is everybody's


def check_undrawn(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield what a solution, hint or feedback takes from a card which may not be shown."""
    spec = subject.spec
    asked = " ".join([spec.stem, *(step.prompt for step in spec.steps)])
    known, names = fragments(asked), _names(" ".join(TEMPLATE_SPAN.findall(asked)))
    given = _roots(names, spec.derived)
    for name in given & set(spec.parameters):  # who sees a vector sees its size
        given |= _names(
            str(getattr(spec.parameters[name], "size", getattr(spec.parameters[name], "shape", "")))
        )
    for written in written_texts(spec):
        if written.kind not in ("solution", "hint", "feedback"):
            continue
        plain = _GENERAL.sub("", _CONDITION.sub(" ", written.text))
        told, used = fragments(plain), _names(" ".join(TEMPLATE_SPAN.findall(plain)))
        for loc, answer in _drawn_answers(subject):
            for pool in _POOLS:
                for index, entry in enumerate(getattr(answer, pool, ())):
                    if written.loc[:-1] == (*loc, pool, index):
                        continue  # its own feedback
                    shared = {
                        one
                        for one in fragments(entry.text) & told
                        if not _is_shown(one, known, given, spec.derived)
                    }
                    own = {
                        name
                        for name in _names(" ".join(TEMPLATE_SPAN.findall(entry.text))) & used
                        if not _roots({name}, spec.derived) <= given
                    }
                    if not _is_everywhere(own, answer, pool):
                        shared |= {f"{{{{ {name} }}}}" for name in own}
                    if shared:
                        yield _fault(subject, written, min(shared), entry.text)


def _fault(subject: LintSubject, written: StudentText, shared: str, card: str) -> LintFinding:
    spoken = "solution" if written.kind == "solution" else written.kind
    return subject.warning(
        "undrawn",
        f"the {spoken} speaks of a card that not every variant shows",
        written.loc,
        got=f"{shared}, as in: {' '.join(card.split())[:60]}",
        next_step='begin that sentence with "More generally", or say it of all cards',
    )


def _drawn_answers(subject: LintSubject) -> Iterator[tuple[tuple[int | str, ...], object]]:
    for name, answer in subject.spec.answers:
        if getattr(answer, "draw", None) is not None:
            yield tuple(subject.loc_of(name)), answer


def _is_everywhere(names: set[str], answer: object, pool: str) -> bool:
    """Tell whether all cards of a pool fill these names in, so that each variant shows them."""
    entries = getattr(answer, pool, ())
    return not names or all(names <= _names(" ".join(TEMPLATE_SPAN.findall(entry.text))) for entry in entries)


def fragments(text: str) -> set[str]:
    """Return the filled-in expressions of a text, and its formulas where they are long enough to be known."""
    filled = {"{{" + "".join(found.split()) + "}}" for found in TEMPLATE_SPAN.findall(text)}
    formulas = {
        _FONT.sub(r"\1", "".join(found.split()))
        for found in _UNDRAWN_FORMULA.findall(TEMPLATE_SPAN.sub("", text))
    }
    return {one for one in filled if "(" in one} | {one for one in formulas if len(one) >= _LEAST}


def _roots(names: set[str], derived: Mapping[str, str]) -> set[str]:
    """Return the drawn values behind names: what a student is shown can be computed by the student."""
    found: set[str] = set()
    for name in names:
        found |= _roots(_names(derived[name]) - {name}, derived) if name in derived else {name}
    return found


def _names(expressions: str) -> set[str]:
    return set(_NAME.findall(_QUOTED.sub(" ", expressions))) - _KEYWORDS


def _is_shown(fragment: str, known: set[str], given: set[str], derived: Mapping[str, str]) -> bool:
    """Tell whether every variant shows a fragment, or all values from which it is computed."""
    if fragment.startswith("{{"):
        return fragment in known or _roots(_names(fragment), derived) <= given
    return any(fragment in formula for formula in known)
