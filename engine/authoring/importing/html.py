"""HTML into blocks; what has no counterpart here is left out and named."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.exchange.markup.blocks import Block, Formula, Run
from engine.exchange.markup.building import Builder
from engine.exchange.markup.characters import plain_characters
from engine.exchange.markup.html_tokens import Tag, html_tokens
from engine.exchange.markup.tags import (
    BOLD,
    CODE,
    DROPPED,
    HEADINGS,
    ITALIC,
    LISTS,
    PARAGRAPHS,
    SCRIPTS,
    STRUCK,
    THROUGH,
    VOID,
)
from engine.foreign import clean_line

__all__ = ["read_html"]

_BLANKS = re.compile(r"\s+")
_SCRIPT_TEXT = re.compile(r"[A-Za-z0-9+\-−=,.()' ]{1,24}")
_SIGNS = re.compile(r"[0-9+\-−=,.()]+|[A-Za-z]")
_NAMED = {"blockquote": "quote", "table": "table", "tr": "row", "td": "cell", "th": "cell", "li": "entry"}


def read_html(
    text: str, *, line_ends: bool = False, held: Sequence[Formula] = ()
) -> tuple[tuple[Block, ...], list[str]]:
    """Return the blocks of an HTML text, and what was left out.

    Parameters
    ----------
    text : str
    line_ends : bool
        Whether a line end of the text is a line end for the reader.
    held : sequence of Formula
        Formulas that were taken out before, see :data:`engine.exchange.markup.building.HELD`.
    """
    reader = _Reader(Builder(held), line_ends, bool(held))
    for token in html_tokens(text):
        if isinstance(token, str):
            reader.text(token)
        else:
            reader.tag(token)
    return reader.blocks()


@dataclass
class _Reader:
    builder: Builder
    line_ends: bool
    keeps_held: bool
    lost: list[str] = field(default_factory=list)
    bold: int = 0
    italic: int = 0
    code: int = 0
    program: list[str] | None = None
    skipped: Tag | None = None
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
            self.builder.add(Run(text, bool(self.bold), bool(self.italic), bool(self.code)))

    # --- tags

    def tag(self, tag: Tag) -> None:
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

    def _structure(self, tag: Tag) -> None:
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

    def _block(self, tag: Tag) -> None:
        kind = "list" if tag.name in LISTS else _NAMED[tag.name]
        if tag.is_end:
            if kind != "row":
                self.builder.close(kind)
        elif not self.builder.open(kind, ordered=LISTS.get(tag.name, False)) and kind not in ("row", "cell"):
            self.lose("lists or quotations nested deeper than we show them; their text is kept")

    # --- programs, indices

    def _pre(self, tag: Tag) -> None:
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

    def _script(self, tag: Tag) -> None:
        self._end_script()
        if not tag.is_end:
            self.script = (SCRIPTS[tag.name], self.builder.mark())

    def _end_script(self) -> None:
        """Turn what stands raised or lowered into a small formula, or into words where it is long."""
        if self.script is None:
            return
        (sign, mark), self.script = self.script, None
        taken = self.builder.take(mark)
        text = "".join(run.text for run in taken if isinstance(run, Run)).strip()
        if all(isinstance(inline, Run) for inline in taken) and _SCRIPT_TEXT.fullmatch(text):
            inside = text.replace("−", "-") if _SIGNS.fullmatch(text) else f"\\text{{{text}}}"
            self.builder.add(Formula(f"{sign}{{{inside}}}"))
            return
        if text:
            self.lose("raised or lowered text that is too long for an index; it stands on the line")
        for inline in taken:
            self.builder.add(inline)

    # --- what is left out

    def _drop(self, tag: Tag) -> None:
        if tag.is_end:
            return
        if tag.raw is not None and tag.attributes.get("type", "").lower().startswith("math/tex"):
            self.builder.add(Formula(tag.raw, "display" in tag.attributes["type"]))
            return
        alt = tag.attributes.get("alt", "").strip()
        if tag.name == "img" and "texrender" in tag.attributes.get("class", "").split() and alt:
            self.builder.add(Formula(alt))
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

    def _skip(self, tag: Tag, skipped: Tag) -> None:
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

    def _end_math(self, math: Tag) -> None:
        if self.latex and self.latex.strip():
            self.builder.add(Formula(self.latex, math.attributes.get("display") == "block"))
        else:
            self.lose(DROPPED["math"])
        self.latex, self.in_latex = None, False


def _is_known(name: str) -> bool:
    return name in BOLD | ITALIC | CODE | HEADINGS | PARAGRAPHS | THROUGH or name in ("blockquote",)
