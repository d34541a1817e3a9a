"""What Jupyter reads in another way than our Markdown does comes out so that it reads the same."""

from __future__ import annotations

import pytest

import engine
from engine.export.jupyter import solution_cell
from engine.export.jupyter_text import inline_markdown, jupyter_markdown, statement_markdown
from engine.items import builtin_bank
from engine.prose.markdown import render_prose


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("The token <bos> comes first.", "The token &lt;bos> comes first."),
        ("`a < b` and a < b", "`a < b` and a &lt; b"),
        ("[0.5, 0.5](twice) and [x]: y", "[0.5, 0.5&#93;(twice) and [x&#93;: y"),
        ("so that $ a < b $ holds", "so that $a < b$ holds"),
        (r"costs \$5, not \$6: `a \$ b`, $x$", r"costs \$5, not \$6: `a \$ b`, $x$"),
        ("so that\n$$\n\\frac{1}{2}\n$$\nholds", "so that\n$$\\frac{1}{2}$$\nholds"),
        (
            "| x | $|x|$ |\n| --- | --- |\n| 1 | 2 |",
            r"| x | $\vert x\vert $ |" + "\n| --- | --- |\n| 1 | 2 |",
        ),
    ],
)
def test_signs_mean_the_same_in_jupyter(source: str, text: str) -> None:
    assert jupyter_markdown(source) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("*the* **right** `softmax(x)`", "*the* **right** `softmax(x)`"),
        (r"$\alpha_t$ of $h_1$", r"$\alpha_t$ of $h_1$"),
        ("a < b & c", "a &lt; b & c"),
        (r"costs \$5 a_b", r"costs \$5 a\_b"),
        ("`<eos>`, not <pad>", "`<eos>`, not &lt;pad>"),
    ],
)
def test_an_option_stays_what_it_is(source: str, text: str) -> None:
    assert inline_markdown(render_prose(source, inline=True)) == text


def test_every_item_of_the_bank_can_be_written() -> None:
    for name in builtin_bank().ids():
        item = engine.load_item(name)
        variant = engine.draw(item, seed=2)
        text = statement_markdown(item.spec, variant, item.registry, seed=2, number=1)
        assert text.startswith("## 1. ") and not any(sign in text for sign in ("<math", "<figure", "{{")), (
            name
        )
        for part in variant.parts:
            assert all(f"- ({option.id}) " in text for option in part.options), name


@pytest.mark.parametrize(
    ("starter", "cell"),
    [
        (
            "def f(x):\n    raise NotImplementedError",
            "def f(x):\n    BEGIN\n    raise NotImplementedError\n    END",
        ),
        (
            "def f(x):\n    y = 1\n    ...\n\nZ = 2\n",
            "def f(x):\n    y = 1\n    BEGIN\n    ...\n    END\n\nZ = 2",
        ),
        ("def f(x): pass", "def f(x): pass\n\nBEGIN\nEND"),
        ("def f(x):\n    return x", "def f(x):\n    return x\n\nBEGIN\nEND"),
        ("def g(x):\n    pass", "def g(x):\n    pass\n\nBEGIN\nEND"),
        ("def f(:", "def f(:\n\nBEGIN\nEND"),
    ],
)
def test_only_what_is_to_be_replaced_stands_between_the_marked_lines(starter: str, cell: str) -> None:
    lines = solution_cell(starter, "f")
    lines = lines.replace("# BEGIN SOLUTION: your code goes between these two lines", "BEGIN")
    assert lines.replace("# END SOLUTION", "END") == cell
