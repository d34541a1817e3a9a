"""MathML as LaTeX: every formula of the bank comes back as it was, and others only whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import fromstring

import pytest

from engine.authoring.importing.from_mathml import latex_of_mathml
from engine.authoring.importing.text_blocks import normal_formula
from engine.items.bank import builtin_bank
from engine.model import RenderedText
from engine.prose.maths import maths_forms
from engine.variants import draw_seeded

BANK = builtin_bank()


def texts() -> Iterator[RenderedText]:
    for name in BANK.ids():
        variant = draw_seeded(BANK.load(name), version="v", registry=BANK.registry(), seed=0)
        yield from (variant.stem, *variant.hints, *variant.notes)
        for part in variant.parts:
            yield from (option.text for option in (*part.options, *part.prompts))


def test_every_formula_of_the_bank_comes_back_element_by_element() -> None:
    formulas = {f for text in texts() for f in re.findall(r"<math.*?</math>", text.html, re.DOTALL)}
    assert len(formulas) > 400
    for formula in formulas:
        source = normal_formula(latex_of_mathml(fromstring(formula)))
        assert source is not None, formula
        assert maths_forms(source, False)[1] == formula.replace('display="block"', 'display="inline"')


@pytest.mark.parametrize(
    ("mathml", "latex"),
    [
        ("<mfrac><mn>1</mn><mi>n</mi></mfrac>", r"\frac{1}{n}"),
        ("<msup><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></msup>", "{a+b}^{2}"),
        ("<msqrt><mi>x</mi><mo>&#8804;</mo><mn>2</mn></msqrt>", r"\sqrt{x\le2}"),
        ("<mi>softmax</mi><mo>&#8289;</mo><mi>x</mi>", r"\operatorname{softmax}x"),
        ("<mstyle><mi mathvariant='normal'>d</mi></mstyle>", r"\mathrm{d}"),
        ("<semantics><mi>&#945;</mi><annotation>x</annotation></semantics>", r"\alpha"),
        ("<mtext>50&#160;%</mtext>", r"\text{50 %}"),
    ],
)
def test_elements_of_other_tools(mathml: str, latex: str) -> None:
    assert latex_of_mathml(fromstring(f"<math>{mathml}</math>")).replace(" ", "") == latex.replace(" ", "")


@pytest.mark.parametrize(
    "mathml",
    [
        "",
        "<mroot><mi>x</mi><mn>3</mn></mroot>",
        "<mi>x</mi><maction/>",
        "<mfrac><mi>x</mi></mfrac>",
        r"<mtext>\input{x}</mtext>",
        "<mrow>" * 40 + "<mi>x</mi>" + "</mrow>" * 40,
        "<mi>" + "x" * 9000 + "</mi>",
    ],
)
def test_what_has_no_word_in_latex_gives_nothing(mathml: str) -> None:
    assert latex_of_mathml(fromstring(f"<math>{mathml}</math>")) == ""
