"""The LaTeX form of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from engine.variants.escaping import escape_latex

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["PREAMBLE", "LatexText"]

PREAMBLE = r"""\usepackage[T1]{fontenc}
\usepackage{amsmath}
\usepackage{amssymb}"""
"""What a document needs that holds our LaTeX."""

# LaTeX would take a bracket or star after a line break, and a bracket after \item, for an argument of theirs
_ARGUMENT_LIKE = re.compile(r"(?:\\\\\n|\\item )(?=[\[*])")
_LATEX_BLOCKS = {
    "bullet_list_open": "\n\\begin{itemize}",
    "bullet_list_close": "\n\\end{itemize}\n",
    "ordered_list_open": "\n\\begin{enumerate}",
    "ordered_list_close": "\n\\end{enumerate}\n",
    "list_item_open": "\n\\item ",
    "paragraph_open": "\n\n",
    "heading_open": "\n\n\\textbf{",
    "heading_close": "}",
    "blockquote_open": "\n\\begin{quote}",
    "blockquote_close": "\n\\end{quote}\n",
    "th_close": " & ",
    "td_close": " & ",
    "tr_close": " \\\\\n",
    "thead_close": "\\hline\n",
    "table_close": "\\end{tabular}\n",
}
_LATEX_INLINE = {
    "softbreak": "\n",
    "hardbreak": "\\\\\n",
    "em_open": "\\emph{",
    "em_close": "}",
    "strong_open": "\\textbf{",
    "strong_close": "}",
}


class LatexText:
    """Writes tokens as LaTeX; holes stay."""

    def blocks(self, tokens: Sequence[Token]) -> str:
        """Return whole blocks."""
        parts: list[str] = []
        for i, token in enumerate(tokens):
            if token.type == "inline":
                parts.append(self.inline(token.children or []))
            elif token.type == "picture":
                parts.append(f"\n\n{token.content}\n")
            elif token.type in ("fence", "code_block"):
                parts += [
                    "\n\n\\texttt{",
                    escape_latex(token.content.strip()).replace("\n", "}\\\\\n\\texttt{"),
                    "}\n",
                ]
            elif token.type == "table_open":
                columns = next(j for j, t in enumerate(tokens[i:]) if t.type == "tr_close")
                count = sum(t.type == "th_open" for t in tokens[i : i + columns])
                parts.append("\n\n\\begin{tabular}{" + "l" * count + "}\n")
            elif token.type == "tr_close":
                parts[-1] = parts[-1].removesuffix(" & ")
                parts.append(_LATEX_BLOCKS["tr_close"])
            elif token.type == "paragraph_open" and token.hidden:
                continue
            else:
                parts.append(_LATEX_BLOCKS.get(token.type, ""))
        text = re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip("\n")
        return _ARGUMENT_LIKE.sub(r"\g<0>{}", text)

    def inline(self, children: Iterable[Token]) -> str:
        """Return a run of words."""
        parts = []
        for child in children:
            if child.type == "text":
                parts.append(escape_latex(child.content))
            elif child.type == "code_inline":
                parts.append(f"\\texttt{{{escape_latex(child.content)}}}")
            else:
                parts.append(_LATEX_INLINE.get(child.type, ""))
        return "".join(parts)
