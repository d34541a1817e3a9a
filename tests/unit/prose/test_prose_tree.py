"""The tree of a rendered text: blocks, formulas with their source, pictures with their alternative text."""

from __future__ import annotations

import re
from html import unescape

import pytest

from engine.items.bank import Bank, builtin_root
from engine.model import RenderedText
from engine.prose.markdown import ProseError, render_prose
from engine.prose.prose_tree import (
    ProseBreak,
    ProseCode,
    ProseEmphasis,
    ProseFormula,
    ProseList,
    ProseListing,
    ProseParagraph,
    ProsePicture,
    ProseQuote,
    ProseTable,
    ProseText,
    prose_tree,
)
from engine.prose.stems import render_text
from engine.variants import draw_seeded

BANK = Bank([builtin_root()])


def test_runs_of_a_paragraph() -> None:
    (paragraph,) = prose_tree(render_prose("Let $x_1 < 2$ be *very* **small & `f(a)`**\\\nnow"))
    assert isinstance(paragraph, ProseParagraph)
    let, formula, be, very, blank, strong, line_end, now = paragraph.runs
    assert (let, be, blank) == (ProseText("Let "), ProseText(" be "), ProseText(" "))
    assert isinstance(formula, ProseFormula) and (formula.tex, formula.display) == ("x_1 < 2", False)
    assert formula.mathml.startswith("<math") and formula.mathml.endswith("</math>")
    assert very == ProseEmphasis((ProseText("very"),), strong=False)
    assert strong == ProseEmphasis((ProseText("small & "), ProseCode("f(a)")), strong=True)
    assert (line_end, now) == (ProseBreak(), ProseText("now"))


def test_blocks_in_their_order() -> None:
    source = (
        "# Head\n\n3. one\n4. two\n   - inner $a$\n\n> said\n\n```\nif a:\n  b\n```\n\n"
        "| a | $b$ |\n|---|---|\n| 1 | -2 |\n"
    )
    head, numbered, quoted, code, table = prose_tree(render_prose(source))
    assert head == ProseParagraph((ProseText("Head"),), heading=True)
    assert isinstance(numbered, ProseList) and numbered.start == 3
    (one,), (two, inner) = numbered.entries
    assert one == ProseParagraph((ProseText("one"),)) and two == ProseParagraph((ProseText("two"),))
    assert isinstance(inner, ProseList) and inner.start is None
    assert quoted == ProseQuote((ProseParagraph((ProseText("said"),)),))
    assert code == ProseListing("if a:\n  b")
    assert isinstance(table, ProseTable)
    assert table.head[0] == (ProseText("a"),) and isinstance(table.head[1][0], ProseFormula)
    assert table.rows == (((ProseText("1"),), (ProseText("-2"),)),)


def test_dollars_and_matrices_are_told_apart() -> None:
    text = render_prose(
        r"It costs \$5 or $\begin{bmatrix} 1 \\ [2] \end{bmatrix}$; $$a = 1, \quad b = \$ 2$$ end \$"
    )
    formulas = [run for b in prose_tree(text) for run in b.runs if isinstance(run, ProseFormula)]  # type: ignore[union-attr]
    assert [f.tex for f in formulas] == [r"\begin{bmatrix} 1 \\ [2] \end{bmatrix}", r"a = 1, \quad b = \$ 2"]
    assert [f.display for f in formulas] == [False, True]
    # a displayed formula that may be broken is several elements
    assert formulas[1].mathml.count("<math") == 2 and "span" not in formulas[1].mathml


def test_a_picture_stands_between_paragraphs_with_its_numbers_in_words() -> None:
    text = render_text("Look at $x$: {{ heatmap(W) }} Then $-3$.", {"W": [[-0.25, 1.0]]})
    before, picture, after = prose_tree(text)
    assert isinstance(picture, ProsePicture)
    assert picture.svg.startswith('<svg xmlns="http://www.w3.org/2000/svg"') and picture.svg.endswith(
        "</svg>"
    )
    assert "−0.25" in picture.alt_text and picture.caption
    assert isinstance(after, ProseParagraph) and isinstance(after.runs[1], ProseFormula)
    assert after.runs[1].tex == "-3"
    assert isinstance(before, ProseParagraph)


def test_an_option_is_one_paragraph_and_nothing_is_none() -> None:
    assert prose_tree(render_prose("$a$ or b", inline=True)) == (
        ProseParagraph((ProseFormula("a", _mathml("a"), display=False), ProseText(" or b"))),
    )
    assert prose_tree(RenderedText("", "", "")) == ()


def _mathml(tex: str) -> str:
    found = re.search("<math.*</math>", render_prose(f"${tex}$").html)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    "text",
    [
        RenderedText("", "<p>a", ""),
        RenderedText("", "<script>a</script>", ""),
        RenderedText("", "<p><math>a</math></p>", ""),
        RenderedText("", "<p>a</p>", "$a$"),
        RenderedText("", "<figure>a</figure>", ""),
        RenderedText("", "<p><b>a</b></p>", "a"),
    ],
)
def test_what_our_renderer_never_writes_is_refused(text: RenderedText) -> None:
    with pytest.raises(ProseError):
        prose_tree(text)


@pytest.mark.parametrize("item", BANK.ids())
def test_every_text_of_the_bank_is_read_with_all_its_formulas(item: str) -> None:
    spec = BANK.load(item)
    variant = draw_seeded(spec, version="v", registry=BANK.registry(), seed=1)
    texts = [variant.stem, *variant.notes, *variant.hints, *variant.told_after]
    texts += [variant.solution] if variant.solution else []
    for part in variant.parts:
        texts += [part.prompt] if part.prompt else []
        texts += [option.text for option in (*part.options, *part.prompts)]
    for text in texts:
        tree = prose_tree(text)
        words = re.sub(r"<math.*?</math>|<figure.*?</figure>|<[^>]*>", "", text.html, flags=re.DOTALL)
        assert "".join(_words(tree).split()) == "".join(unescape(words).split())
        spans = re.findall(r'<span class="formulas">.*?</span>', text.html)
        count = text.html.count("<math ") - "".join(spans).count("<math ") + len(spans)
        assert repr(tree).count("ProseFormula(") == count


def _words(node: object) -> str:
    """Return all characters that aren't in a formula or picture, in their order."""
    if isinstance(node, ProseText | ProseCode | ProseListing):
        return node.text
    if isinstance(node, tuple):
        return "".join(map(_words, node))
    inner = ("runs", "entries", "head", "rows", "blocks")
    return "".join(_words(getattr(node, name)) for name in inner if hasattr(node, name))
