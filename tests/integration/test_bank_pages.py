"""Every text of every item is conforming HTML, and its formulas are conforming MathML."""

from __future__ import annotations

import html5lib
import pytest

from engine.authoring.lint.rules.rendered_text import texts_of
from engine.items import builtin_bank
from engine.prose.maths import maths_forms
from engine.variants import draw_seeded
from tests.oracles.mathml import NAMESPACE, faults_of_maths

BANK = builtin_bank()
VARIANTS = 3
PAGE = "<!DOCTYPE html><html lang='en'><head><title>t</title></head><body><div>{}</div></body></html>"


def faults_of_page(fragment: str) -> list[str]:
    """Parse strictly, as a validator does, and check every formula."""
    document = html5lib.HTMLParser(strict=True).parse(PAGE.format(fragment))
    maths = document.iter(f"{{{NAMESPACE}}}math")
    return [fault for formula in maths for fault in faults_of_maths(formula)]


@pytest.mark.parametrize("item", BANK.ids())
def test_every_text_of_an_item_is_valid(item: str) -> None:
    spec, registry = BANK.load(item), BANK.registry()
    texts = {}
    for seed in range(VARIANTS):
        variant = draw_seeded(spec, version="", registry=registry, seed=seed)
        texts |= {text.html: f"seed {seed}, {' '.join(map(str, loc))}" for loc, text in texts_of(variant)}
    assert texts
    for html, where in texts.items():
        assert faults_of_page(html) == [], where


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ("<mfrac><mn>1</mn></mfrac>", "<mfrac> has 1 children, not 2"),
        ("<msub><mi>x</mi><mn>1</mn><mn>2</mn></msub>", "<msub> has 3 children, not 2"),
        ("<mrow>x</mrow>", "<mrow> holds text outside a token"),
        ("<mi></mi>", "<mi> is empty"),
        ("<menclose><mi>x</mi></menclose>", "<menclose> is no element of MathML Core"),
        ("<mi href='x'>x</mi>", "<mi> has no attribute href"),
        ("<mtable><mtd><mi>x</mi></mtd></mtable>", f"<mtable> holds {{{NAMESPACE}}}mtd"),
    ],
)
def test_the_oracle_finds_faults(wrong: str, fault: str) -> None:
    assert fault in faults_of_page(f"<math>{wrong}</math>")


@pytest.mark.parametrize("wrong", ["<p><div></div></p>", "<b>x", "<p>a</p></p>", "<img>x</img>", "a & < b"])
def test_the_parser_is_strict(wrong: str) -> None:
    with pytest.raises(html5lib.html5parser.ParseError):
        faults_of_page(wrong)


def test_every_construction_of_our_formulas_is_valid() -> None:
    source = (
        r"\sum_{i=1}^{n} \frac{a_i^2}{\sqrt{d_k}} \hat{\alpha}^{(t,t')} \mathbf{W}^\top "
        r"\begin{bmatrix} 1 & -2 \\ 3 & 4 \end{bmatrix} \max_j x_j \left( \frac{1}{2} \right) "
        r"\mathrm{softmax}(e) \; \text{if } x \le 1, \lfloor y \rfloor"
    )
    assert faults_of_page(maths_forms(source, True)[1]) == []
