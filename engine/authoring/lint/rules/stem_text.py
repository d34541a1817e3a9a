"""The last sentences of a stem say what to do, and solutions speak only of cards that a student has seen.

Of a pool each variant shows a part. What a solution or hint takes from one card, its formula or its drawn
number, is unknown to students who got others. A sentence on all cards belongs behind the words "More
generally" (or "In general"), or into an ``{% if … %}`` with the condition under which its card is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from engine.authoring.lint.subject import TEMPLATE_SPAN, LintFinding, LintSubject, StudentText, written_texts
from engine.text.yaml_errors import Loc

_VERBS = (
    "answer arrange assign assume calculate choose combine complete compute count decide describe determine "
    "draw enter evaluate explain express fill find follow give keep list match name order pick put rank read "
    "round say select show sort state tell translate type use work write"
)
_INSTRUCTION = re.compile(
    rf"^(?:then |now |first |and |next |finally )?(?:{'|'.join(_VERBS.split())})\b", re.I
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z(\"'`$])|(?<=[:;])\s+|\n\n+")
_LAST = 3  # behind the instruction there may be one sentence on rounding and one on the form of the answer


def asks(text: str) -> bool:
    """Return whether one of the last sentences of a plain text is a question or an instruction."""
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
        questions: list[tuple[str, Loc]] = (
            [
                (part.prompt.plain, (*subject.loc_of(part.id), "prompt"))
                for part in variant.parts
                if part.prompt
            ]
            if subject.spec.steps
            else [(variant.stem.plain, ("stem",))]
        )
        for text, loc in questions:
            if not asks(text):
                message = "the text ends neither in a question nor in an instruction"
                step = 'end it with what is to be done, such as "Compute …" or "Which …?"'
                yield subject.warning(message, loc, got=text.strip()[-80:], next_step=step)


_POOLS = ("options", "prompts", "cards")
_UNDRAWN_FORMULA = re.compile(r"\$\$?([^$]+)\$\$?")
_GENERAL = re.compile(r"\b(?:more generally|in general)\b.*", re.IGNORECASE | re.DOTALL)
_CONDITION = re.compile(r"\{% if (?:(?!\{% (?:if|endif)).)*+\{% endif %\}", re.DOTALL)
_FONT = re.compile(r"\\(?:mathbf|mathrm|hat)\{(\w+)\}|\\hat(?=\\)")
_NAME = re.compile(r"[A-Za-z_]\w*(?!\w*\()")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_KEYWORDS = {"if", "else", "and", "or", "not", "in", "is"}
_LEAST = 6  # characters: shorter formulas, such as a lone letter, belong to no card


def check_undrawn(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield what a solution, hint or feedback takes from a card that may not be shown."""
    spec = subject.spec
    question = " ".join([spec.stem, *(step.prompt for step in spec.steps)])
    question_fragments, names = fragments(question), _names(" ".join(TEMPLATE_SPAN.findall(question)))
    given_names = _roots(names, spec.derived)
    for name in given_names & set(spec.parameters):  # with a vector its size is shown
        given_names |= _names(
            str(getattr(spec.parameters[name], "size", getattr(spec.parameters[name], "shape", "")))
        )
    for written in written_texts(spec):
        if written.kind not in ("solution", "hint", "feedback"):
            continue
        plain = _GENERAL.sub("", _CONDITION.sub(" ", written.text))
        text_fragments, text_names = fragments(plain), _names(" ".join(TEMPLATE_SPAN.findall(plain)))
        for loc, answer in _drawn_answers(subject):
            for pool in _POOLS:
                for index, entry in enumerate(getattr(answer, pool, ())):
                    if written.loc[:-1] == (*loc, pool, index):
                        continue  # its own feedback
                    shared = {
                        fragment
                        for fragment in fragments(entry.text) & text_fragments
                        if not _is_shown(fragment, question_fragments, given_names, spec.derived)
                    }
                    card_names = {
                        name
                        for name in _names(" ".join(TEMPLATE_SPAN.findall(entry.text))) & text_names
                        if not _roots({name}, spec.derived) <= given_names
                    }
                    if not _is_everywhere(card_names, answer, pool):
                        shared |= {f"{{{{ {name} }}}}" for name in card_names}
                    if shared:
                        yield _fault(subject, written, min(shared), entry.text)


def _fault(subject: LintSubject, written: StudentText, shared: str, card: str) -> LintFinding:
    label = "solution" if written.kind == "solution" else written.kind
    return subject.warning(
        f"the {label} speaks of a card that not every variant shows",
        written.loc,
        got=f"{shared}, as in: {' '.join(card.split())[:60]}",
        next_step='begin that sentence with "More generally", or say it of all cards',
    )


def _drawn_answers(subject: LintSubject) -> Iterator[tuple[tuple[int | str, ...], object]]:
    for name, answer in subject.spec.answers:
        if getattr(answer, "draw", None) is not None:
            yield tuple(subject.loc_of(name)), answer


def _is_everywhere(names: set[str], answer: object, pool: str) -> bool:
    """Return whether all cards of a pool fill these names in, so that each variant shows them."""
    entries = getattr(answer, pool, ())
    return not names or all(names <= _names(" ".join(TEMPLATE_SPAN.findall(entry.text))) for entry in entries)


def fragments(text: str) -> set[str]:
    """Return the filled-in expressions of a text, and its formulas that are long enough to be recognised."""
    filled = {"{{" + "".join(match.split()) + "}}" for match in TEMPLATE_SPAN.findall(text)}
    formulas = {
        _FONT.sub(r"\1", "".join(match.split()))
        for match in _UNDRAWN_FORMULA.findall(TEMPLATE_SPAN.sub("", text))
    }
    return {fragment for fragment in filled if "(" in fragment} | {
        fragment for fragment in formulas if len(fragment) >= _LEAST
    }


def _roots(names: set[str], derived: Mapping[str, str]) -> set[str]:
    """Return the drawn values behind names: a student can compute whatever follows from shown ones."""
    roots: set[str] = set()
    for name in names:
        roots |= _roots(_names(derived[name]) - {name}, derived) if name in derived else {name}
    return roots


def _names(expressions: str) -> set[str]:
    return set(_NAME.findall(_QUOTED.sub(" ", expressions))) - _KEYWORDS


def _is_shown(
    fragment: str, question_fragments: set[str], given_names: set[str], derived: Mapping[str, str]
) -> bool:
    """Return whether every variant shows a fragment, or all values from which it is computed."""
    if fragment.startswith("{{"):
        return fragment in question_fragments or _roots(_names(fragment), derived) <= given_names
    return any(fragment in formula for formula in question_fragments)
