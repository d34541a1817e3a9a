"""Answer sheets as Typst source: every mark, bubble and box at the place that the layout says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from engine.paper.page_codes import PageCode
from engine.paper.sheet_layout import CODE_SIZE, MARK_SIZE, SheetLayout, SheetPage
from engine.text.words import typst_string

# In mm: thin enough to add nothing to an empty bubble, thick enough for a printer that saves toner.
_RING = 0.22
_QUIET_MODULES = 0
_ALIGN = {"left": (0.0, "left"), "center": (-20.0, "center"), "right": (-40.0, "right")}
_LABEL_BOX = 40.0
_LEFT_LABEL_BOX = 120.0


def draw_sheet(
    layout: SheetLayout, codes: Sequence[PageCode], *, heading: str = "", instructions: str = ""
) -> str:
    """Return the Typst source of an answer sheet's pages.

    Parameters
    ----------
    layout : SheetLayout
    codes : sequence of PageCode
        One for each page.
    heading, instructions : str
        Plain text at the top of each page: whose sheet it is, and how it is filled in.

    Raises
    ------
    ValueError
        There are more or fewer codes than pages.
    """
    pages = zip(layout.pages, codes, strict=True)
    return "\n".join(_page(layout, page, code, heading, instructions) for page, code in pages)


@lru_cache(maxsize=64)
def _code_image(text: str) -> str:
    import io

    import segno

    buffer = io.BytesIO()
    # Q restores a quarter of the code; without a border, as the place of its corner is written down.
    code = segno.make(text, error="q", micro=False, boost_error=False)
    code.save(buffer, kind="svg", border=0, xmldecl=False, svgns=True, nl=False, dark="#000")
    return buffer.getvalue().decode("ascii")


def draw_page_code(code: PageCode, size: float = CODE_SIZE) -> str:
    """Return a Typst image of a page's code, without the white border that it needs on all sides.

    Parameters
    ----------
    code : PageCode
    size : float
        Its side in mm.
    """
    svg = typst_string(_code_image(code.text()))
    alt = typst_string(f"Code of {code.words()}")
    return f'image(bytes({svg}), format: "svg", width: {size:g}mm, height: {size:g}mm, alt: {alt})'


def _mm(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "mm"


def _place(x: float, y: float, content: str) -> str:
    return f"#place(top + left, dx: {_mm(x)}, dy: {_mm(y)}, {content})"


def _page(layout: SheetLayout, page: SheetPage, code: PageCode, heading: str, instructions: str) -> str:
    width, height = layout.size
    radius = layout.radius
    half = MARK_SIZE / 2
    lines = [
        f"#page(width: {_mm(width)}, height: {_mm(height)}, margin: 0mm, header: none, footer: none, "
        "numbering: none, columns: 1)[",
        "#set par(justify: false, spacing: 0pt, leading: 0.4em)",
    ]
    lines += [
        _place(x - half, y - half, f"rect(width: {_mm(MARK_SIZE)}, height: {_mm(MARK_SIZE)}, fill: black)")
        for x, y in page.marks
    ]
    lines += [_place(x, y, draw_page_code(code)) for x, y in page.codes]
    lines += [_place(12.0 + half, 8.0, _heading(layout, code, heading, instructions))]
    # Loops over plain arrays: one call for each bubble would be most of the time that a sheet takes.
    rings = [(b.x, b.y) for b in page.bubbles] + [(r.x, r.y) for r in page.references if not r.is_full]
    lines += _circles(rings, radius, f"stroke: {_mm(_RING)} + black")
    # A full reference is printed to the outer edge of a ring, as a pencil fills it.
    lines += _circles([(r.x, r.y) for r in page.references if r.is_full], radius + _RING / 2, "fill: black")
    # A printer makes greys of dots; on a scan in black and white they show which greys come out as black.
    for shade in sorted({tint.shade for tint in page.tints}):
        alike = [(tint.x, tint.y) for tint in page.tints if tint.shade == shade]
        lines += _circles(alike, radius, f"fill: luma({100 * (1 - shade):g}%)")
    lines += [
        _place(
            box.x,
            box.y,
            f"rect(width: {_mm(box.width)}, height: {_mm(box.height)}, stroke: {_mm(_RING)} + luma(40%))",
        )
        for box in page.boxes
    ]
    for label in page.labels:
        shift, align = _ALIGN[label.align]
        weight = ', weight: "bold"' if label.bold else ""
        box_width = _LEFT_LABEL_BOX if label.align == "left" else _LABEL_BOX
        text = f"text(size: {label.size:g}pt{weight}, {typst_string(label.text)})"
        box = f"box(width: {_mm(box_width)}, height: 8mm, align({align} + horizon, {text}))"
        lines.append(_place(label.x + shift, label.y - 4.0, box))
    return "\n".join([*lines, "]"])


def _circles(centres: Sequence[tuple[float, float]], radius: float, look: str) -> list[str]:
    if not centres:
        return []
    points = ", ".join(f"({x:g}, {y:g})" for x, y in centres)
    return [
        f"#for (x, y) in ({points},) {{ place(top + left, dx: (x - {radius:g}) * 1mm, "
        f"dy: (y - {radius:g}) * 1mm, circle(radius: {radius:g}mm, {look})) }}"
    ]


def _heading(layout: SheetLayout, code: PageCode, heading: str, instructions: str) -> str:
    width = layout.size[0] - 2 * (14.5 + CODE_SIZE)
    size = layout.text
    title = typst_string(heading or "Answer sheet")
    what = typst_string(f"Copy {code.copy} · page {code.page} of {code.pages}")
    rest = typst_string(instructions)
    return (
        f'box(width: {_mm(width)}, height: 30mm, {{ text(size: {size * 1.3:g}pt, weight: "bold", {title}); '
        f"linebreak(); text(size: {size:g}pt, {what}); linebreak(); text(size: {size * 0.85:g}pt, {rest}) }})"
    )
