"""Heatmaps and alignment grids: the numbers of the matrix in every form, and never by colour alone."""

from __future__ import annotations

import pytest

from engine.prose.pictures.heatmap import heatmap
from tests.oracles.figures import SCORES, WEIGHTS, figure, numbers, shown

WORDS = '"le chat dort", "the cat is sleeping"'
KINDS = ["heatmap", "alignment_grid"]
VALUES = [float(entry) for entry in WEIGHTS.entries]


@pytest.mark.parametrize("kind", KINDS)
def test_all_numbers_stand_in_the_cells_titles_and_alternative_text(kind):
    found = figure(f"{kind}(A, {WORDS})")
    assert numbers(" ".join(found.printed)) == VALUES
    assert numbers(" ".join(found.titles)) == VALUES
    _, _, *spoken = numbers(found.spoken)  # after the size, 3 by 4
    assert spoken == VALUES


@pytest.mark.parametrize("kind", KINDS)
def test_the_alternative_text_and_titles_name_row_and_column(kind):
    found = figure(f"{kind}(A, {WORDS})")
    assert "Row le: the 0.05; cat 0.70" in found.spoken
    assert "Row dort: the 0.40" in found.spoken
    assert found.titles[1].startswith("le, cat: 0.70")
    assert len(found.titles) == 12


@pytest.mark.parametrize("kind", KINDS)
def test_characters_are_aligned_and_carry_all_numbers(kind):
    caption, _, heads, *lines = shown(f"{kind}(A, {WORDS})").plain.split("\n")
    assert caption.endswith(":")
    assert heads.split() == ["the", "cat", "is", "sleeping"]
    assert numbers(" ".join(lines)) == VALUES
    assert {len(line) for line in (heads, *lines)} == {len(heads)}
    assert all(line.startswith("    ") for line in (heads, *lines))  # nothing wraps an indented line


@pytest.mark.parametrize("kind", KINDS)
def test_latex_is_one_tabular_with_all_numbers(kind):
    latex = shown(f"{kind}(A, {WORDS})").latex
    rows = latex.split("\\hline\n")[1].split("\\end{tabular}")[0].splitlines()
    assert [row.split(" & ")[0] for row in rows] == ["{}le", "{}chat", "{}dort"]
    cells = [cell for row in rows for cell in row.removesuffix(" \\\\").split(" & ")[1:]]
    assert [numbers(cell.rpartition("}")[2])[-1] for cell in cells] == VALUES
    assert latex.count("\\begin{tabular}{r|cccc}") == 1


def test_a_bar_is_as_long_as_its_number_and_the_shade_as_strong():
    bars = [rect for rect in figure("heatmap(A)").elements("rect") if rect.get("height") == "5"]
    shades = [rect for rect in figure("heatmap(A)").elements("rect") if rect.get("fill-opacity")]
    full = 52 - 8
    assert [float(bar.attrib["width"]) / full for bar in bars] == pytest.approx(VALUES, abs=0.005)
    opacity = [float(shade.attrib["fill-opacity"]) for shade in shades]
    assert opacity == pytest.approx([0.32 * value for value in VALUES], abs=0.001)


def test_blocks_of_the_terminal_follow_the_number():
    plain = shown("heatmap(A)").plain
    for value, block in (("0.05", "░░"), ("0.70", "▓▓"), ("0.25", "░░"), ("0.40", "▒▒")):
        assert f"{block} {value}" in plain


def test_numbers_that_are_no_weights_are_measured_by_their_own_extremes():
    found = figure('heatmap(S, "q1 q2", "k1 k2 k3")')
    assert "from −2.00 to 3.00" in "".join(found.figure.itertext())
    bars = [float(rect.attrib["width"]) for rect in found.elements("rect") if rect.get("height") == "5"]
    assert (min(bars), max(bars)) == (bars[1], bars[3])
    assert bars[1] == 0
    assert [numbers(title.split(":")[1]) for title in found.titles] == [[float(e)] for e in SCORES.entries]


def test_places_are_those_that_are_asked_for():
    assert "0.700" in shown("heatmap(A, places=3)").plain
    assert "0.7 " in shown("heatmap(A, places=1)").plain + " "


def test_marks_show_the_largest_weight_of_a_row_and_what_is_at_least_half_of_it():
    plain = shown(f"alignment_grid(A, {WORDS})").plain
    marks = [[part for part in line if part in "●○·"] for line in plain.split("\n")[3:]]
    assert ["".join(row) for row in marks] == ["·●··", "●···", "●○○·"]
    circles = figure(f"alignment_grid(A, {WORDS})").elements("circle")
    radii = [float(circle.attrib["r"]) for circle in circles]
    assert [radius == 9 for radius in radii] == [mark == "●" for row in marks for mark in row]
    rings = [circle.get("fill") == "none" for circle in circles]
    assert rings == [mark == "○" for row in marks for mark in row]


def test_marks_are_spoken():
    spoken = figure(f"alignment_grid(A, {WORDS})").spoken
    assert "cat 0.70, the largest of its row;" in spoken
    assert "cat 0.25, at least half the largest of its row;" in spoken


def test_equal_weights_get_equal_marks_though_softmax_rounds():
    marks = [c for c in shown("alignment_grid(softmax([0.1 + 0.2, 0.3]))").plain if c in "●○·"]
    assert marks[-2:] == ["●", "●"]


def test_a_row_of_zeros_has_no_largest_weight():
    assert shown("alignment_grid([[0, 0]])").plain.count("·") == 2


def test_a_vector_is_one_row_and_words_may_be_left_out():
    lines = shown("heatmap([0.25, 0.75])").plain.split("\n")[2:]
    assert [line.split() for line in lines] == [["1", "2"], ["1", "░░", "0.25", "▓▓", "0.75"]]


def test_many_columns_are_split_over_lines_of_a_terminal():
    plain = shown("heatmap(identity(12))").plain
    blocks = plain.split("\n\n")[1:]
    assert len(blocks) > 1
    assert max(map(len, plain.split("\n"))) <= 80
    assert [head for block in blocks for head in block.split("\n")[0].split()] == [
        str(i + 1) for i in range(12)
    ]


def test_long_words_are_turned_and_stay_inside():
    found = figure('heatmap(A, "a b c", "the cat is extraordinarily-long")')
    assert any("rotate(-45)" in text.get("transform", "") for text in found.elements("text"))
    longest = 18 * 14 * 0.6 * 0.71  # 18 characters of a usual width, turned by 45°
    width, height = map(float, found.svg.attrib["viewBox"].split()[2:])
    start = found.elements("text")[3].attrib["transform"].split("(")[1].split(" ")[0]
    assert float(start) + longest < width
    assert height > 3 * 40 + longest


def test_wide_characters_take_two_columns():
    lines = shown('heatmap(A, "猫 chat dort", "a b c d")').plain.split("\n")[3:]
    assert [len(line) for line in lines] == [len(lines[1]) - 1, len(lines[1]), len(lines[1])]


def test_only_what_is_printed_as_the_lower_end_has_no_block() -> None:
    lines = heatmap([[0.0, 0.133, 0.004], [0.001, 0.999, 1.0]], places=2).plain().splitlines()[-2:]
    assert lines[0].split() == ["1", "0.00", "░░", "0.13", "0.00"]
    assert lines[1].split() == ["2", "0.00", "██", "1.00", "██", "1.00"]
    below = heatmap([[-1.0, 0.0, -0.9]], places=1).plain().splitlines()[-1]
    assert below.split() == ["1", "-1.0", "██", "0.0", "░░", "-0.9"]
