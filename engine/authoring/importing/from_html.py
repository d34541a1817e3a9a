"""HTML into blocks; what has no counterpart here is left out and named."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engine.authoring.importing.text_blocks import Block, BlockBuilder, FormulaRun, TextRun, plain_characters
from engine.text.escape import clean_line

__all__ = [
    "BOLD",
    "CODE",
    "DROPPED",
    "HEADINGS",
    "ITALIC",
    "LISTS",
    "PARAGRAPHS",
    "SCRIPTS",
    "STRUCK",
    "THROUGH",
    "VOID",
    "HtmlTag",
    "html_tokens",
    "read_html",
]


# ----------------------------------------------------------------------------------------------------
# HTML as tags and text, read once from left to right: the time is linear however broken the text is.

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9:.-]*")
_ATTRIBUTE = re.compile(r"[^\s=>\"'/]+")
_TAG_BLANKS = re.compile(r"[\s/]*")
_VALUE = re.compile(r"[^\s>]*")
_RAW = {"script", "style", "textarea", "title", "xmp", "noembed", "noframes"}
_MAX_VALUE = 4000


@dataclass(frozen=True, slots=True)
class HtmlTag:
    """A start tag (or an end tag); ``raw`` is the content of a script and its like."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    is_end: bool = False
    raw: str | None = None


def html_tokens(text: str) -> Iterator[HtmlTag | str]:
    """Yield text (character references resolved) and tags; comments and declarations are passed over.

    A ``<`` that begins no tag is text. After a tag or comment that never ends everything is text.
    """
    at = start = 0
    while (angle := text.find("<", at)) >= 0:
        found = _markup(text, angle)
        if found is None:
            at = angle + 1
            continue
        tag, end = found
        if end < 0:  # never ends
            break
        if start < angle:
            yield html.unescape(text[start:angle])
        if tag is not None:
            yield tag
        at = start = end
    if start < len(text):
        yield html.unescape(text[start:])


def _markup(text: str, at: int) -> tuple[HtmlTag | None, int] | None:
    """Return the tag at ``<`` (None for a comment) and where it ends, -1 for never; None where it is text."""
    if text.startswith("<!--", at):
        end = text.find("-->", at + 4)
        return None, end + 3 if end >= 0 else -1
    following = text[at + 1 : at + 2]
    if following in ("!", "?") and following:
        end = text.find(">", at)
        return None, end + 1 if end >= 0 else -1
    is_end = following == "/"
    name = _NAME.match(text, at + 1 + is_end)
    if name is None:
        return None
    attributes, end = _attributes(text, name.end())
    lower = name[0].lower()
    if end >= 0 and lower in _RAW and not is_end:
        return _raw(text, lower, attributes, end)
    return HtmlTag(lower, attributes, is_end), end


def _attributes(text: str, at: int) -> tuple[dict[str, str], int]:
    """Return attributes by name, and where the tag ends (-1 for never)."""
    found: dict[str, str] = {}
    while True:
        at = _end(_TAG_BLANKS.match(text, at), at)
        if at >= len(text):
            return found, -1
        if text[at] == ">":
            return found, at + 1
        name = _ATTRIBUTE.match(text, at)
        if name is None:  # a stray quote or equals sign
            at += 1
            continue
        at = _end(_TAG_BLANKS.match(text, name.end()), name.end())
        value = ""
        if text[at : at + 1] == "=":
            value, at = _value(text, at + 1)
            if at < 0:
                return found, -1
        found.setdefault(name[0].lower(), html.unescape(value[:_MAX_VALUE]))


def _value(text: str, at: int) -> tuple[str, int]:
    while text[at : at + 1].isspace():
        at += 1
    quote = text[at : at + 1]
    if quote in ('"', "'") and quote:
        end = text.find(quote, at + 1)
        return (text[at + 1 : end], end + 1) if end >= 0 else ("", -1)
    end = _end(_VALUE.match(text, at), at)
    return text[at:end], end


def _raw(text: str, name: str, attributes: dict[str, str], at: int) -> tuple[HtmlTag, int]:
    closing = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(text, at)
    end = text.find(">", closing.end()) if closing is not None else -1
    if closing is None or end < 0:  # as browsers do: it takes the rest
        return HtmlTag(name, attributes, raw=text[at:]), len(text)
    return HtmlTag(name, attributes, raw=text[at : closing.start()]), end + 1


def _end(found: re.Match[str] | None, otherwise: int) -> int:
    return found.end() if found is not None else otherwise


# ----------------------------------------------------------------------------------------------------
# What each HTML tag means for a text of ours.

BOLD = {"b", "strong"}
ITALIC = {"i", "em", "var", "cite", "dfn"}
CODE = {"code", "tt", "kbd", "samp"}
STRUCK = {"s", "strike", "del"}
SCRIPTS = {"sub": "_", "sup": "^"}
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6", "caption", "legend", "dt", "summary"}
LISTS = {"ul": False, "ol": True, "menu": False}
PARAGRAPHS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "center", "address", "dl",
    "dd", "figure", "figcaption", "details", "fieldset", "form", "hr", "body", "html", "thead", "tbody",
    "tfoot", "colgroup",
}  # fmt: skip
"""What begins and ends a paragraph and is nothing else here."""
THROUGH = {
    "span", "font", "small", "big", "u", "ins", "mark", "label", "nobr", "abbr",
    "acronym", "q", "bdi", "bdo", "wbr", "time", "data", "nolink", "tex", "col", "o:p", "head", "ruby", "rb",
}  # fmt: skip
"""What only changes the look, which isn't kept."""
DROPPED = {
    "script": "a script", "style": "a style sheet", "img": "a picture", "picture": "a picture",
    "svg": "a drawing (SVG)", "canvas": "a drawing", "iframe": "an embedded page", "object": "an object",
    "embed": "an object", "applet": "an applet", "video": "a film", "audio": "a sound",
    "input": "an input field", "button": "a button", "select": "a selection field",
    "textarea": "an input field", "map": "an image map", "title": "a page title",
    "noscript": "a text for browsers without scripts", "template": "a template", "xmp": "a listing",
    "noembed": "a text for old browsers", "noframes": "a text for old browsers", "frameset": "a frame set",
    "math": "a formula in MathML without its LaTeX", "meta": "page data", "link": "a link to a style sheet",
    "base": "page data", "source": "a film or sound", "track": "a film or sound", "area": "an image map",
}  # fmt: skip
"""What goes with all that it holds, and how the report calls it."""
VOID = {"img", "br", "hr", "input", "meta", "link", "base", "source", "track", "area", "embed", "wbr", "col"}

_BLANKS = re.compile(r"\s+")
_SCRIPT_TEXT = re.compile(r"[A-Za-z0-9+\-−=,.()' ]{1,24}")
_SIGNS = re.compile(r"[0-9+\-−=,.()]+|[A-Za-z]")
_NAMED = {"blockquote": "quote", "table": "table", "tr": "row", "td": "cell", "th": "cell", "li": "entry"}


def read_html(
    text: str, *, line_ends: bool = False, held: Sequence[FormulaRun] = ()
) -> tuple[tuple[Block, ...], list[str]]:
    """Return the blocks of an HTML text, and what was left out.

    Parameters
    ----------
    text : str
    line_ends : bool
        Whether a line end of the text is a line end for the reader.
    held : sequence of FormulaRun
        Formulas that were taken out before, see :data:`engine.authoring.importing.text_blocks.HELD`.
    """
    reader = _Reader(BlockBuilder(held), line_ends, bool(held))
    for token in html_tokens(text):
        if isinstance(token, str):
            reader.text(token)
        else:
            reader.tag(token)
    return reader.blocks()


@dataclass
class _Reader:
    builder: BlockBuilder
    line_ends: bool
    keeps_held: bool
    lost: list[str] = field(default_factory=list)
    bold: int = 0
    italic: int = 0
    code: int = 0
    program: list[str] | None = None
    skipped: HtmlTag | None = None
    depth: int = 0
    latex: str | None = None
    in_latex: bool = False
    script: tuple[str, int] | None = None

    def blocks(self) -> tuple[tuple[Block, ...], list[str]]:
        self._end_script()
        self._end_program()
        return self.builder.blocks(), list(dict.fromkeys(self.lost))

    def lose(self, what: str) -> None:
        self.lost.append(what)

    # --- text

    def text(self, raw: str) -> None:
        if self.skipped is not None:
            if self.in_latex:
                self.latex = (self.latex or "") + raw
            return
        if self.program is not None:
            raw = raw.expandtabs(4)
        text, lost = self._visible(raw)
        if lost:
            self.lose("invisible characters")
        if self.program is not None:
            self.program.append(text)
            return
        if not self.line_ends:
            text = _BLANKS.sub(" ", text)
        elif self.builder.ends_with_break:
            text = text.removeprefix("\n")
        self._add(text)

    def _visible(self, raw: str) -> tuple[str, bool]:
        if not self.keeps_held:
            return plain_characters(raw)
        parts = [plain_characters(part) for part in re.split("([\ue000\ue001])", raw)]
        marks = re.findall("[\ue000\ue001]", raw)
        text = "".join(part + mark for (part, _), mark in zip(parts[::2], [*marks, ""], strict=True))
        return text, any(lost for _, lost in parts[::2])

    def _add(self, text: str) -> None:
        if text:
            self.builder.add(TextRun(text, bool(self.bold), bool(self.italic), bool(self.code)))

    # --- tags

    def tag(self, tag: HtmlTag) -> None:
        if self.skipped is not None:
            self._skip(tag, self.skipped)
        elif tag.name in DROPPED:
            self._drop(tag)
        elif self.program is not None and tag.name not in ("pre", "br"):
            return
        elif tag.name == "pre":
            self._pre(tag)
        elif tag.name == "br":
            self._line_end()
        elif tag.name in SCRIPTS:
            self._script(tag)
        else:
            self._structure(tag)

    def _line_end(self) -> None:
        if self.program is not None:
            self.program.append("\n")
        else:
            self._add("\n")

    def _structure(self, tag: HtmlTag) -> None:
        name, step = tag.name, -1 if tag.is_end else 1
        if name in HEADINGS or name in PARAGRAPHS:
            self._end_script()
            self.builder.paragraph()
        if name in BOLD or name in HEADINGS:
            self.bold = max(0, self.bold + step)
        elif name in ITALIC:
            self.italic = max(0, self.italic + step)
        elif name in CODE:
            self.code = max(0, self.code + step)
        if name in LISTS or name in _NAMED:
            self._end_script()
            self._block(tag)
        elif name == "a":
            if not tag.is_end and tag.attributes.get("href"):
                self.lose(f"a link to {clean_line(tag.attributes['href'], 80)}; its text is kept")
        elif name in STRUCK:
            if not tag.is_end:
                self.lose("a line through words; the words are kept")
        elif not _is_known(name):
            self.lose(f"the unknown tag <{clean_line(name, 30)}>; its text is kept")

    def _block(self, tag: HtmlTag) -> None:
        kind = "list" if tag.name in LISTS else _NAMED[tag.name]
        if tag.is_end:
            if kind != "row":
                self.builder.close(kind)
        elif not self.builder.open(kind, ordered=LISTS.get(tag.name, False)) and kind not in ("row", "cell"):
            self.lose("lists or quotations nested deeper than we show them; their text is kept")

    # --- programs, indices

    def _pre(self, tag: HtmlTag) -> None:
        if tag.is_end:
            self._end_program()
        elif self.program is None:
            self._end_script()
            self.builder.paragraph()
            self.program = []

    def _end_program(self) -> None:
        if self.program is not None:
            text, self.program = "".join(self.program), None
            self.builder.program(text)

    def _script(self, tag: HtmlTag) -> None:
        self._end_script()
        if not tag.is_end:
            self.script = (SCRIPTS[tag.name], self.builder.mark())

    def _end_script(self) -> None:
        """Turn what stands raised or lowered into a small formula, or into words where it is long."""
        if self.script is None:
            return
        (sign, mark), self.script = self.script, None
        taken = self.builder.take(mark)
        text = "".join(run.text for run in taken if isinstance(run, TextRun)).strip()
        if all(isinstance(inline, TextRun) for inline in taken) and _SCRIPT_TEXT.fullmatch(text):
            inside = text.replace("−", "-") if _SIGNS.fullmatch(text) else f"\\text{{{text}}}"
            self.builder.add(FormulaRun(f"{sign}{{{inside}}}"))
            return
        if text:
            self.lose("raised or lowered text that is too long for an index; it stands on the line")
        for inline in taken:
            self.builder.add(inline)

    # --- what is left out

    def _drop(self, tag: HtmlTag) -> None:
        if tag.is_end:
            return
        if tag.raw is not None and tag.attributes.get("type", "").lower().startswith("math/tex"):
            self.builder.add(FormulaRun(tag.raw, "display" in tag.attributes["type"]))
            return
        alt = tag.attributes.get("alt", "").strip()
        if tag.name == "img" and "texrender" in tag.attributes.get("class", "").split() and alt:
            self.builder.add(FormulaRun(alt))
            return
        if tag.name == "math":
            self.latex, self.in_latex = tag.attributes.get("alttext") or None, False
        elif tag.name == "img":
            source = tag.attributes.get("src", "")
            shown = alt or ("" if source.startswith("data:") else source.rpartition("/")[2])
            self.lose(f"a picture ({clean_line(shown, 80)})" if shown else "a picture")
        else:
            self.lose(DROPPED[tag.name])
        if tag.raw is None and tag.name not in VOID:
            self.skipped, self.depth = tag, 1

    def _skip(self, tag: HtmlTag, skipped: HtmlTag) -> None:
        if skipped.name == "math" and tag.name == "annotation":
            is_latex = "tex" in tag.attributes.get("encoding", "").lower()
            self.in_latex = is_latex and not tag.is_end
            if self.in_latex:
                self.latex = None
        if tag.name != skipped.name:
            return
        self.depth += -1 if tag.is_end else 1
        if self.depth == 0:
            self.skipped = None
            if skipped.name == "math":
                self._end_math(skipped)

    def _end_math(self, math: HtmlTag) -> None:
        if self.latex and self.latex.strip():
            self.builder.add(FormulaRun(self.latex, math.attributes.get("display") == "block"))
        else:
            self.lose(DROPPED["math"])
        self.latex, self.in_latex = None, False


def _is_known(name: str) -> bool:
    return name in BOLD | ITALIC | CODE | HEADINGS | PARAGRAPHS | THROUGH or name in ("blockquote",)
