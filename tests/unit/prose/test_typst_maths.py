"""Formulas as Typst source: every formula of the bank compiles, and shows what its MathML shows."""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache

import pypdfium2
import pytest
import typst

from engine import COMMON_PACKAGES
from engine.items.bank import Bank, builtin_root
from engine.model import RenderedText, Variant
from engine.prose.maths import parser
from engine.prose.maths.mathml import mathml
from engine.prose.maths.typst import typst_maths
from engine.variants import draw_seeded

# Formulas are parts of documents that define how one on a line of its own is set.
_HEAD = """#set page(width: 400mm, height: 60mm, margin: 2mm)
#set document(title: "Formulas")
#let displayed(alt, ..parts) = math.equation(block: true, alt: alt, parts.pos().join(h(2em)))
"""


@lru_cache(maxsize=1)
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=False)


def _pages(formulas: list[str]) -> list[str]:
    """Return the characters that the PDF of each formula shows."""
    source = _HEAD + "\n#pagebreak()\n".join(formulas)
    compiler = typst.Compiler(font_paths=_fonts(), ignore_system_fonts=True)
    data, warnings = compiler.compile_with_warnings(source.encode(), format="pdf", pdf_standards=["ua-1"])
    assert isinstance(data, bytes)
    assert [warning.message for warning in warnings] == []
    document = pypdfium2.PdfDocument(data)
    assert len(document) == len(formulas)
    return [page.get_textpage().get_text_range() for page in document]


def _letters(text: str) -> list[str]:
    """Return letters and digits in their plain forms: 𝐖 is a W."""
    folded = unicodedata.normalize("NFKC", text).replace("ı", "i").replace("ϕ", "φ")
    return sorted(c for c in unicodedata.normalize("NFKC", folded) if c.isalnum())


def _mathml_letters(source: str) -> list[str]:
    return _letters(html.unescape(re.sub("<[^>]*>", "", mathml(source))))


# A backslash takes the next character along: \$ and the \\] of a matrix end no formula.
_FORMULA = re.compile(r"\\\[((?:\\.|[^\\])*?)\\\]|(?<!\\)\$((?:\\.|[^$\\])+)\$", re.DOTALL)


def _bank_formulas() -> list[tuple[str, bool]]:
    bank = Bank([builtin_root()], packages=COMMON_PACKAGES)
    formulas: dict[tuple[str, bool], None] = {}

    def collect(text: RenderedText | None) -> None:
        for match in _FORMULA.finditer(text.latex if text else ""):
            formulas[match[1] or match[2], bool(match[1])] = None

    def collect_all(variant: Variant) -> None:
        for text in (variant.stem, variant.solution, *variant.notes, *variant.hints, *variant.told_after):
            collect(text)
        for part in variant.parts:
            collect(part.prompt)
            for option in (*part.options, *part.prompts):
                collect(option.text)

    for summary in bank.summaries()[0]:
        spec = bank.load(summary.id)
        if spec.kind != "code":
            collect_all(draw_seeded(spec, version="v", registry=bank.registry(), seed=1))
    return list(formulas)


def test_every_formula_of_the_bank_shows_the_letters_of_its_mathml() -> None:
    formulas = [(source, display) for source, display in _bank_formulas() if source != r"\bullet"]
    assert len(formulas) > 500
    shown = _pages([typst_maths(source, display) for source, display in formulas])
    differing = [
        (source, text)
        for (source, _), text in zip(formulas, shown, strict=True)
        if _letters(text) != _mathml_letters(source)
    ]
    assert differing == []


def test_everything_that_the_subset_has_compiles() -> None:
    formulas = [f"\\{name}" for name in (*parser.SYMBOLS, *parser.FUNCTIONS, *parser.SPACES)]
    formulas += [
        f"\\{name}{{x}} \\{name}{{abc}} \\{name}{{x_1}}" for name in (*parser.STYLES, *parser.ACCENTS)
    ]
    formulas += [f"\\begin{{{name}}} a & b, c \\\\ -1; & (d) \\end{{{name}}}" for name in parser.ENVIRONMENTS]
    formulas += [
        rf"\left\{a} x \right\{b}" for a, b in (("lbrace", "rbrace"), ("langle", "rangle"), ("|", "|"))
    ]
    formulas += [
        r"\left( \frac{a, b}{c; d} \right]",
        r"\left. x \right|",
        "",
        "{}^\\top",
        "x'_i f''^2",
        "a / b : c * d ! ? . | ( [ ) ]",
        "π ≤ ≥ ≠ ≈ → ∈ − · × …",
        r"\text{a \# \$ \% \& \_ * _ ` @ <b> //} \operatorname{rank}",
        "2x 10 000 x1 ab",
        r"\quad",
        r"a \quad b \qquad c",
    ]
    assert len(_pages([typst_maths(formula, display) for formula in formulas for display in (False, True)]))


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"\text{if } x", "if x"),
        (r"\mathrm{head}_i = \mathrm{Attention}(Q)", "head i =Attention(Q)"),
        (r"W\mathrm{softmax}(x)", "Wsoftmax(x)"),
        (r"10 \cdot 3", "10 ⋅3"),
    ],
)
def test_words_stand_where_they_are_written(source: str, shown: str) -> None:
    (text,) = _pages([typst_maths(source)])
    plain = unicodedata.normalize("NFKC", text)
    assert " ".join(plain.split()).replace(" ", "") == shown.replace(" ", "")


def test_the_readable_text_is_the_alternative() -> None:
    assert typst_maths(r"\alpha_t").startswith('#math.equation(alt: "αₜ", $')
    assert typst_maths(r"\text{a \% b}").startswith('#math.equation(alt: "a % b", ')


def test_a_displayed_formula_breaks_where_it_is_set_apart() -> None:
    assert typst_maths(r"a = 1, \qquad b = 2", True).count("$.body") == 2
    assert typst_maths(r"a = 1, \qquad b = 2", False).count("$.body") == 1
