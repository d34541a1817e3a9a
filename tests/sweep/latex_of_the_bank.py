"""Every text of every item compiles with a real LaTeX engine.  `make sweep` runs this; `make test` doesn't.

Without an engine this fails and says how to get one: a check that is left out in silence proves nothing.
"""

from __future__ import annotations

import pytest

from engine.authoring.lint.rules.rendered_text import texts_of
from engine.items import builtin_bank
from engine.prose.stems import render_text
from engine.variants import draw_seeded
from tests.oracles.figures import NAMES
from tests.sweep.latex_document import Document, faults_of

VARIANTS = 10
SHOWN = 20


def compiled(texts: list[tuple[str, str]], tmp_path) -> list[str]:
    try:
        return faults_of(Document(texts), tmp_path)
    except FileNotFoundError as error:
        pytest.fail(str(error))


def test_every_text_of_every_item_compiles(tmp_path):
    bank = builtin_bank()
    texts = {}
    for item in bank.ids():
        spec, version, registry = bank.load(item), bank.version(item), bank.registry()
        for seed in range(VARIANTS):
            variant = draw_seeded(spec, version=version, registry=registry, seed=seed)
            for loc, text in texts_of(variant):
                # many texts are the same in all variants
                texts.setdefault(text.latex, f"{item}, seed {seed}, {' '.join(map(str, loc))}")
    faults = compiled([(name, latex) for latex, name in texts.items()], tmp_path)
    assert len(texts) > 1000
    assert faults == [], "\n".join(faults[:SHOWN])


WORDS = [
    "[BOS]",
    "*",
    "a_b",
    "$x$",
    "50%",
    "#1",
    "{x}",
    "R&D",
    "~^",
    "\\input",
    "<b>",
    '"a"',
    "|",
    "l'été",
    "–…",
]


@pytest.mark.parametrize("template", ["heatmap(A, W, W2)", "alignment_grid(A, W, W2)", "beam_tree(T, 2, W)"])
def test_pictures_compile_whatever_their_words(template, tmp_path):
    texts = []
    for word in WORDS:
        names = NAMES | {"W": f"{word} b c", "W2": f"a {word} c d"}
        texts.append((word, render_text("{{ " + template + " }}", names).latex))
    assert compiled(texts, tmp_path) == []


def test_words_of_every_kind_compile_in_every_kind_of_block(tmp_path):
    texts = []
    for word in WORDS:
        names = {"w": word, "n": 2}
        for block in (
            "- {{ w }} a\n- **{{ w }}**",
            "1. {{ w }}\n2. b",
            "| h | i |\n|---|---|\n| `{{ w }}` | {{ w }} |\n| {{ w }} | b |",
            "> {{ w }}",
            "a\\\n{{ w }}",
            "# {{ w }}\n\nend",
            "```\nline {{ w }}\n\n  indented {{ w }}\n```",
        ):
            markdown = word.replace("\\", "\\\\") if "`" not in block else word
            if "|" in markdown or "$" in markdown or "\\" in markdown:
                continue  # these are syntax of their own in Markdown, which other tests hold
            texts.append((f"{word} in {block!r}", render_text(block, names | {"w": markdown}).latex))
    assert compiled(texts, tmp_path) == []
