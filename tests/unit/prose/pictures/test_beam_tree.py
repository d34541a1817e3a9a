"""A beam tree shows exactly the hypotheses that a search looks at, with their probabilities and fates."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from engine.model import DrawnValue
from engine.prose.stems import render_text
from tests.oracles.figures import SVG, Figure, figure, numbers, shown

CALL = 'beam_tree(T, 2, "a b c")'


def searched(rows: dict[tuple[int, ...], list[Fraction]], width: int, depth: int):
    """Every hypothesis of a beam search with its probability and whether it was kept, by exact fractions."""
    looked_at, beam = {}, {(): Fraction(1)}
    for _ in range(depth):
        grown = {(*h, w): p * q for h, p in beam.items() for w, q in enumerate(rows[h])}
        beam = dict(sorted(grown.items(), key=lambda one: (-one[1], one[0]))[:width])
        looked_at |= {h: (p, h in beam) for h, p in grown.items()}
    return looked_at


def drawn_tree(size: int, depth: int, seed: int):
    rng = random.Random(seed)
    rows, entries, prefixes = {}, [], [()]
    for _ in range(depth):
        for prefix in prefixes:
            parts = [rng.randint(1, 60) for _ in range(size - 1)]
            parts.append(1000 - sum(parts))
            rows[prefix] = [Fraction(part, 1000) for part in parts]
            entries += [f"{part / 1000:.3f}" for part in parts]
        prefixes = [(*prefix, word) for prefix in prefixes for word in range(size)]
    return rows, DrawnValue((len(rows), size), tuple(entries))


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize(("size", "depth"), [(2, 4), (3, 2), (3, 3), (5, 2)])
def test_the_tree_is_what_an_exact_search_looks_at(size, depth, width):
    rows, tree = drawn_tree(size, depth, seed=size * 100 + depth)
    found = Figure(render_text(f"{{{{ beam_tree(T, {width}, places=6) }}}}", {"T": tree}).html)
    expected = searched(rows, width, depth)
    shown = {}
    for title in found.titles:
        name, told = title.split(": ")
        step, total = numbers(told)[:2]
        words = tuple("ABCDE".index(word) for word in name.split())
        assert step == float(rows[words[:-1]][words[-1]])
        shown[words] = (total, "kept" in told)
    assert shown.keys() == expected.keys()
    for words, (total, kept) in shown.items():
        assert total == pytest.approx(float(expected[words][0]), abs=5.1e-7)
        assert kept == expected[words][1]


def test_kept_and_pruned_differ_in_frame_and_mark():
    found = figure(CALL)
    groups = [group for group in found.elements("g") if group.find(f"{SVG}title") is not None]
    assert len(groups) == 9
    for group in groups:
        words = "".join(group.itertext())
        dashed = any("stroke-dasharray" in inner.attrib for inner in group.iter())
        assert dashed == ("pruned" in words) == ("✗" in words) != ("✓" in words)
    thick = [group for group in groups if any(inner.get("stroke-width") == "4" for inner in group.iter())]
    assert ["".join(group.find(f"{SVG}title").itertext()) for group in thick] == [
        "b a: 0.90, in all 0.3600, kept as number 1"
    ]


def test_numbers_stand_in_the_picture_and_in_the_alternative_text():
    found = figure(CALL)
    inside = [numbers(text) for text in found.printed if numbers(text)]
    titles = [numbers(title)[:2] for title in found.titles]
    assert [[a, b] for (a,), (b,) in zip(inside[::2], inside[1::2], strict=True)] == titles
    spoken = found.spoken.split("Step ")[1:]
    assert "a, 0.50, in all 0.5000, kept as number 1; b, 0.40, in all 0.4000, kept as number 2" in spoken[0]
    assert "b a, 0.90, in all 0.3600, kept as number 1" in spoken[1]
    assert len(spoken) == 2


def test_characters_are_indented_by_step():
    assert shown('beam_tree(T, 1, "a b c")').plain.split("\n") == [
        "Beam search with 1 hypothesis:",
        "",
        "    hypothesis  step  in all",
        "    a           0.50  0.5000  kept as number 1",
        "      a a       0.35  0.1750  kept as number 1",
        "      a b       0.34  0.1700  pruned",
        "      a c       0.31  0.1550  pruned",
        "    b           0.40  0.4000  pruned",
        "    c           0.10  0.1000  pruned",
    ]


def test_latex_is_one_tabular():
    latex = shown(CALL).latex
    assert r"\hspace*{1em}b a & 0.90 & 0.3600 & kept as number 1 \\" in latex
    assert latex.count(r" \\") == 1 + 9


def test_words_are_letters_unless_named_and_the_width_may_be_a_parameter():
    assert "B A" in shown("beam_tree(T, b)").plain
    assert "b a" in shown('beam_tree(T, b, "a b c", places=2)').plain
    assert "0.36  kept" in shown("beam_tree(T, b, places=2)").plain


def test_probabilities_of_a_computed_table_get_one_number_of_decimals():
    lines = shown("beam_tree(stack([0.3, 0.7], [0.25, 0.75], [0.5, 0.5]), 1)").plain.split("\n")[3:]
    steps = [line.split("kept")[0].replace("pruned", "").split()[-2] for line in lines]
    assert steps == ["0.30", "0.70", "0.50", "0.50"]


def test_boxes_do_not_overlap():
    boxes = [
        tuple(float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        for rect in figure(CALL).elements("rect")
    ]
    width, height = map(float, figure(CALL).svg.attrib["viewBox"].split()[2:])
    for i, (x, y, w, h) in enumerate(boxes):
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
        for x2, y2, w2, h2 in boxes[:i]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
