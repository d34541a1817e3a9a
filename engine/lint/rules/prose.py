"""Stem, prompts, options, notes, hints and solution render, in all three forms."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from engine.lint.finding import Finding
from engine.lint.subject import Subject
from engine.lint.texts import written_texts
from engine.lint.typed import typed_text
from engine.model import Text, Variant

__all__ = ["check", "faults_of", "texts_of"]

RULE = "prose"
_VOID = {"br", "hr", "img", "wbr"}
_LEFTOVER = re.compile(
    r"\{\{|\}\}(?=\s*$)|\{%|%\}|\btensor\(|\bUndefined\b|\bDecimal\(|\bnan\b|\binf\b|=\sNone\b|\[None\b"
)
_MINUS_ZERO = re.compile(r"(?<![\w)])[-−]0(?:\.0*)?(?![\d.])")
_INTERNAL = re.compile(r"\b[FD]-\d{1,2}\b|\bS[0-4]-[a-z][\w-]*")
_ID = re.compile(r"\bm-[a-z][a-z0-9-]*")
_DOCUMENT = re.compile(r"\bS[0-4]\b(?!_)")
_TEMPLATE = re.compile(
    r"\{%(?:[^{%]|\{(?!%)|%(?!\}))*+%\}|\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*+\}\}|\$[^$]*+\$", re.DOTALL
)
# a word by which each document's full name is known
_NAMES = {
    "S0": "Ferreira",
    "S1": "Chakraborty",
    "S2": "Attention Mechanism",
    "S3": "GEN-AI notes",
    "S4": "Kuhlmann",
}
# eight, eleven, eighteen, eighty …: numbers that begin with a vowel when they are read
_ARTICLE = re.compile(r"\ba (?:8|11|18|8\d|8\d\d)(?: [×x] | [a-z]|-[a-z])")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")


def check(subject: Subject) -> Iterator[Finding]:
    """Yield each text that doesn't render, once per place, with the first seed that shows it."""
    spec = subject.spec
    if len(spec.hints) < 1:
        yield subject.warning(RULE, "the item has no hint", ("hints",), next_step="add hints:")
    if spec.solution is None and not subject.is_code:
        yield subject.warning(
            RULE, "the item has no worked solution", ("solution",), next_step="add solution:"
        )
    yield from _labels(subject)
    seen: set[str] = set()
    typed = typed_text(spec)
    for seed, variant in enumerate(subject.variants):
        for loc, text in texts_of(variant):
            for fault in faults_of(text, typed):
                if (key := f"{loc}{fault}") not in seen:
                    seen.add(key)
                    yield subject.fault(RULE, f"{_spoken(loc)}: {fault}", loc, seed=seed)


def _labels(subject: Subject) -> Iterator[Finding]:
    """Numbers of our own lists tell a student nothing; a document's short name does once it is introduced."""
    written = list(written_texts(subject.spec))
    asked = " ".join(one.text for one in written if one.kind == "stem")
    for one in written:
        ids = [
            *_INTERNAL.findall(one.text),
            *(word for word in _ID.findall(one.text) if word in subject.registry),
        ]
        for name in dict.fromkeys(ids):
            yield subject.fault(
                RULE,
                f"students read {name}, which is a number or name of our own lists",
                one.loc,
                next_step="say in words what it stands for",
            )
        for label in dict.fromkeys(_DOCUMENT.findall(_TEMPLATE.sub(" ", one.text))):
            if _NAMES[label] not in " ".join(f"{asked} {one.text}".split()):
                yield subject.warning(
                    RULE,
                    f"the short name {label} of a document isn't introduced",
                    one.loc,
                    next_step=f"name it in full: {_NAMES[label]} … ({label})",
                )


def texts_of(variant: Variant) -> Iterator[tuple[tuple[int | str, ...], Text]]:
    """Yield every text of a variant after the place in the problem file where it stands."""
    yield ("stem",), variant.stem
    for index, part in enumerate(variant.parts):
        loc: tuple[int | str, ...] = ("answer",) if part.id == "answer" else ("steps", index)
        if part.prompt is not None:
            yield (*loc, "prompt"), part.prompt
        for option in (*part.options, *part.prompts):
            yield loc, option.text
    for index, note in enumerate(variant.notes + variant.told_after):
        yield ("errata", index), note
    for index, hint in enumerate(variant.hints):
        yield ("hints", index), hint
    if variant.solution is not None:
        yield ("solution",), variant.solution


def _spoken(loc: tuple[int | str, ...]) -> str:
    return " ".join(str(part + 1) if isinstance(part, int) else part for part in loc)


def faults_of(text: Text, typed: str = "") -> list[str]:
    """Return what is wrong with one rendered text.

    What the author typed (:func:`engine.lint.typed.typed_text`) isn't left over from anything.

    Checked: nothing is empty, no template syntax and no Python value is left over, no negative zero,
    HTML tags nest, LaTeX braces, dollars and environments pair up.
    """
    faults = []
    forms = {"plain text": text.plain, "HTML": text.html, "LaTeX": text.latex}
    for name, form in forms.items():
        if not form.strip():
            faults.append(f"the {name} is empty")
    for name in ("plain text", "LaTeX"):
        if found := _unmeant(_LEFTOVER, forms[name], typed):
            faults.append(f"the {name} holds {found!r}, which no learner should see")
    if article := _ARTICLE.search(text.plain):
        faults.append(f"'an' is needed before this number: {article[0].strip()!r}")
    if found := _unmeant(_MINUS_ZERO, text.plain, typed):
        faults.append(f"a negative zero is shown: {found}")
    faults += _html_faults(text.html) + _latex_faults(text.latex)
    return faults


def _unmeant(pattern: re.Pattern[str], text: str, typed: str) -> str | None:
    """Return the first match that the author hasn't typed."""
    found = (match[0] for match in pattern.finditer(text))
    return next((word for word in found if word.replace("\u2212", "-") not in typed), None)


class _Tags(HTMLParser):
    """Keeps the open tags; the first one that is closed out of turn is the fault."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fault: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        if tag in ("script", "merror", "iframe", "object"):
            self.fault = f"the HTML holds a <{tag}>"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.fault = self.fault or f"the HTML closes <{tag}> out of turn"


def _html_faults(html: str) -> list[str]:
    tags = _Tags()
    tags.feed(html)
    tags.close()
    if tags.fault:
        return [tags.fault]
    return [f"the HTML leaves <{tags.open[-1]}> open"] if tags.open else []


def _latex_faults(latex: str) -> list[str]:
    faults = []
    bare = re.sub(r"\\[\\{}$]", "", latex)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            break
    if depth:
        faults.append("the braces of the LaTeX don't pair up")
    if bare.count("$") % 2:
        faults.append("the dollars of the LaTeX don't pair up")
    stack: list[str] = []
    for kind, name in _ENVIRONMENT.findall(latex):
        if kind == "begin":
            stack.append(name)
        elif not stack or stack.pop() != name:
            faults.append(f"the LaTeX ends {name}, which isn't open")
    return faults + [f"the LaTeX leaves {name} open" for name in stack]
