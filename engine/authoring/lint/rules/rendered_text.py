"""Stem, prompts, options, notes, hints and solution render as text, HTML and LaTeX, and read as English.

Texts with templates can be right in the file and wrong in a variant ("1 weights", "a 8 × 8 matrix",
``-0.00``), so what is checked is the rendered text of every variant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

from engine.answers import kind_of
from engine.authoring.lint.subject import (
    TEMPLATE_BLOCK,
    TEMPLATE_SPAN,
    LintFinding,
    LintSubject,
    StudentText,
    typed_text,
    written_texts,
)
from engine.model import RenderedText, Variant

_VOID = {"br", "hr", "img", "wbr"}
_LEFTOVER = re.compile(
    r"\{\{|\}\}(?=\s*$)|\{%|%\}|\btensor\(|\bUndefined\b|\bDecimal\(|\bnan\b|\binf\b|=\sNone\b|\[None\b"
)
_MINUS_ZERO = re.compile(r"(?<![\w)])[-−]0(?:\.0*)?(?![\d.])")
_INTERNAL = re.compile(
    r"\b[FD]-\d{1,2}\b|\bS[0-4]-[a-z][\w-]*|\b(?:faults?|erratum|errata|deviations?) [FDE]? ?\d{1,2}\b|"
    r"\b(?:of|in|on) our (?:own )?list|\b(?:docs|problems|engine|tests)/\w|\w\.(?:md|yaml)\b|"
    r"\b(?:TODO|FIXME|XXX|TBD)\b|\bid of (?:this|the) item\b|\bseed \d+\b|"
    r"\b[Dd]istractors?\b|\b[Mm]isconceptions?\b|\bfault (?:no\.|number|#) ?\d|\b(?:cf\.|[Ss]ee) [FD]\d{1,2}\b"  # noqa: E501
)
_ID = re.compile(r"\bm-[a-z][a-z0-9-]*")
_DOCUMENT = re.compile(r"\bS[0-4]\b(?!_)")
_TEMPLATE = re.compile(rf"{TEMPLATE_BLOCK.pattern}|{TEMPLATE_SPAN.pattern}|\$[^$]*+\$", re.DOTALL)
_NO_PROSE = re.compile(rf"\$\$.*?\$\$|`[^`]*`|{_TEMPLATE.pattern}", re.DOTALL)
# a word by which each document's full name is known
_NAMES = {
    "S0": "Ferreira", "S1": "Chakraborty", "S2": "Attention Mechanism", "S3": "GEN-AI notes",
    "S4": "Kuhlmann",
}  # fmt: skip
# what an author meant to fill in: a brace too few, or a word in capitals between brackets
_PLACEHOLDER = re.compile(
    r"(?<![\\{$])\{(?![{%#])[^{}$\n]{1,40}\}(?!\})|\[[A-Z]{3,}\]|\?\?\?|\blorem ipsum\b", re.IGNORECASE
)
_LONG_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d{9,}|(?<![\w.,])\d{13,}|(?<![\w.])\d(?:\.\d+)?e[-+]\d{2}\b")
# what items count: "1 weights" is looked for with these words alone, for other pairs may be names
_NOUNS = (
    "weight score state word token position entry sentence layer head row column step number value key "
    "query vector hypothesis matrix pair parameter model option probability dimension text product sum "
    "term sequence box error operation multiplication bit byte place decimal unit neuron block part way "
    "case example item time"
)
_IRREGULAR = {"hypothesis": "hypotheses", "matrix": "matrices", "query": "queries", "entry": "entries", "box": "boxes",  # noqa: E501
              "probability": "probabilities"}  # fmt: skip
_PLURAL = "|".join(_IRREGULAR.get(word, f"{word}s") for word in _NOUNS.split())
_SINGULAR = _NOUNS.replace(" ", "|")
_ADJECTIVE = (
    r"(?:(?:encoder|decoder|attention|source|target|alignment|context|hidden|learned|other|more|different|separate|"
    r"new|free|further|encoded|input|output|key|query|value|state|training|whole|possible)[- ]){0,2}"
)
# "layer 1 scores" is a name, and "3 × 4 matrix" a shape
_NOT_A_PRODUCT = (
    r"(?<![Ss]tage )(?<![Ss]tep )(?<![Ll]ayer )(?<![Pp]osition )(?<![Hh]ead )(?<![Rr]ow )(?<![Cc]olumn )"
    r"(?<![Tt]oken )(?<![Ww]ord )(?<![Pp]art )(?<![Cc]ase )(?<![Nn]umber )(?<![Ss]entence )(?<!\bas )"
    r"(?<![\w.,/=+*·×^−-])(?<![=+*·×^−x-] )"
)
_ORDINAL = re.compile(r"(?<![\w.])(\d{1,4})-?(st|nd|rd|th)\b")
_NUMBER_OF = (
    # 1 weights; there are 1 layer; 3 weight; weight(s)
    (re.compile(rf"{_NOT_A_PRODUCT}1 {_ADJECTIVE}(?:{_PLURAL})\b(?! ?[\[(=])"), "a single one takes the singular"),  # noqa: E501
    (re.compile(r"\b(?:there are|are) 1 (?!or\b|to\b|and\b|,)[a-z]"), "a single one takes the singular"),
    (re.compile(rf"{_NOT_A_PRODUCT}(?:[2-9]|[1-9]\d+) (?:{_SINGULAR})\b(?![- ](?:{_PLURAL}|{_SINGULAR}|[a-z]+s)\b|[-’'])"),  # noqa: E501
     "several take the plural"),
    (re.compile(r"\b[a-z]+\((?:s|es|ies)\)|\b(\w+)y/\1ies\b|\b(\w{3,})/\2e?s\b"), "the number decides between the two"),  # noqa: E501
    (re.compile(r"\b[Aa]n (?!8|11\b|18\b|11,|18,)\d"), "'a' is needed before this number"),
)  # fmt: skip
# eight, eleven, eighteen, eighty …: numbers that begin with a vowel when they are read
_ARTICLE = re.compile(r"\b[Aa] (?:8|11|18|8\d|8\d\d)(?: [×x] | [a-z]|-[a-z])")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")


def check(subject: LintSubject) -> Iterator[LintFinding]:
    """Yield each text that doesn't render well, once per place, with the first seed that shows it."""
    spec = subject.spec
    if len(spec.hints) < 1:
        yield subject.warning("the item has no hint", ("hints",), next_step="add hints:")
    # a sample answer is a solution
    by_people = all(kind_of(answer.type).needs_person for _, answer in spec.answers)
    if spec.solution is None and not subject.is_code and not by_people:
        yield subject.warning("the item has no worked solution", ("solution",), next_step="add solution:")
    yield from _labels(subject)
    reported: set[str] = set()
    # Many texts say the same in every variant.
    seen: set[tuple[tuple[int | str, ...], RenderedText]] = set()
    author_text = typed_text(spec)
    for seed, variant in enumerate(subject.variants):
        for loc, text in texts_of(variant):
            if (loc, text) in seen:
                continue
            seen.add((loc, text))
            for fault in faults_of(text, author_text):
                if (key := f"{loc}{fault}") not in reported:
                    reported.add(key)
                    yield subject.fault(f"{_in_words(loc)}: {fault}", loc, seed=seed)


def _labels(subject: LintSubject) -> Iterator[LintFinding]:
    written = [StudentText(subject.spec.title, ("title",), "title"), *written_texts(subject.spec)]
    stem = " ".join(text.text for text in written if text.kind == "stem")
    for text in written:
        ids = [
            *_INTERNAL.findall(text.text),
            *(word for word in _ID.findall(text.text) if word in subject.registry),
        ]
        for name in dict.fromkeys(ids):
            message = f"students read {name}, which is a number or name of our own lists"
            yield subject.fault(message, text.loc, next_step="say in words what it stands for")
        if not subject.is_code and (match := _PLACEHOLDER.search(_NO_PROSE.sub(" ", text.text))):
            # no error: braces may be meant, as in a question on sets or of another system
            message = f"{match[0]!r} looks like something that was to be filled in"
            step = "a drawn value is written in two braces: {{ name }}"
            yield subject.warning(message, text.loc, next_step=step)
        if text.kind == "title":
            if "{{" in text.text or "{%" in text.text:
                yield subject.warning("a title is shown as it stands, without a variant's values", text.loc)
            continue
        for label in dict.fromkeys(_DOCUMENT.findall(_TEMPLATE.sub(" ", text.text))):
            if _NAMES[label] not in " ".join(f"{stem} {text.text}".split()):
                yield subject.warning(
                    f"the short name {label} of a document isn't introduced",
                    text.loc,
                    next_step=f"name it in full: {_NAMES[label]} … ({label})",
                )


def texts_of(variant: Variant) -> Iterator[tuple[tuple[int | str, ...], RenderedText]]:
    """Yield every text of a variant with its place in the problem file."""
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


def _in_words(loc: tuple[int | str, ...]) -> str:
    return " ".join(str(part + 1) if isinstance(part, int) else part for part in loc)


def faults_of(text: RenderedText, author_text: str = "") -> list[str]:
    """Return the faults of one rendered text.

    Nothing is empty, no template syntax and no Python value is left over (unless the author typed it himself,
    see :func:`engine.authoring.lint.subject.typed_text`), there is no negative zero, HTML tags nest, and
    LaTeX braces, dollars and environments pair up.
    """
    faults = []
    forms = {"plain text": text.plain, "HTML": text.html, "LaTeX": text.latex}
    for name, form in forms.items():
        if not form.strip():
            faults.append(f"the {name} is empty")
    for name in ("plain text", "LaTeX"):
        # In LaTeX bold code at the end is two braces too; those of a template would have backslashes.
        form = text.latex.rstrip().rstrip("}") if name == "LaTeX" else text.plain
        if match := _unmeant(_LEFTOVER, form, author_text):
            faults.append(f"the {name} holds {match!r}, which no learner should see")
    if article := _ARTICLE.search(text.plain):
        faults.append(f"'an' is needed before this number: {article[0].strip()!r}")
    for pattern, rule in _NUMBER_OF:
        if (phrase := pattern.search(text.plain)) is not None:
            faults.append(f"{rule}: {phrase[0].strip()!r}")
    for ordinal in _ORDINAL.finditer(text.plain):
        if ordinal[2] != _ending(int(ordinal[1])):
            faults.append(f"an ordinal ends in {_ending(int(ordinal[1]))}: {ordinal[0]!r}")
    if match := _unmeant(_LONG_NUMBER, text.plain, author_text):
        faults.append(f"the number {match} shows digits that nobody needs")
    if match := _unmeant(_MINUS_ZERO, text.plain, author_text):
        faults.append(f"a negative zero is shown: {match}")
    faults += _html_faults(text.html) + _latex_faults(text.latex)
    return faults


def _ending(number: int) -> str:
    """Return the ending of an ordinal: 1st, 2nd, 3rd, 4th, 11th."""
    return "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


def _unmeant(pattern: re.Pattern[str], text: str, author_text: str) -> str | None:
    matches = (match[0] for match in pattern.finditer(text))
    return next((word for word in matches if word.replace("\u2212", "-") not in author_text), None)


class _Tags(HTMLParser):
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
