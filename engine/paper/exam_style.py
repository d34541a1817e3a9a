"""How exams and key booklets look: the Typst definitions that every one of them begins with."""

from __future__ import annotations

from engine.paper.block_heights import MOST_MEASURED
from engine.paper.sheet_layout import PAPER_SIZES
from engine.text.words import typst_string

# Libertinus is Typst's own text face. What it lacks (Arabic, many signs, a smiling face) comes from DejaVu
# Sans, and what no font has is a labelled box: PDF/UA allows no character without a glyph.
TEXT_FONTS = ("Libertinus Serif", "DejaVu Sans", "Last Resort High-Efficiency")
CODE_FONTS = ("DejaVu Sans Mono", "Last Resort High-Efficiency")

END_LABEL = "questions-end"
"""Typst's label of the place behind the last question."""
_TEXT_SIZE = 11.0
_LARGE_TEXT_SIZE = 18.0
# In mm. The margin above has room for a page's code with its quiet zone.
_SIDE, _ABOVE, _BELOW = 22.0, 31.0, 20.0

# Everything in it is set relative to the size of the text, so that large print is large throughout.
_DEFINITIONS = r"""
#let soft = luma(35%)
#let hairline = 0.5pt + luma(60%)
#set par(leading: 0.62em, spacing: 0.95em, justify: false)
#set list(indent: 0.4em)
#set enum(indent: 0.4em)
#show raw: set text(font: code-fonts, size: 1.05em)
#show math.equation: set text(weight: "regular")
#set heading(numbering: none)
#show heading: set block(sticky: true)
#show heading.where(level: 1): set text(size: 2em, weight: "regular")
#show heading.where(level: 2): set text(size: 0.9em)  // of 1.2 em, so both are alike
#show heading.where(level: 3): set text(size: 1.08em)
// PDF/UA lets no level of headings be left out: questions are one below sections where there are any.
#let section(title) = block(above: 1.9em, below: 1.1em, sticky: true, {
  set text(weight: "regular", fill: soft, tracking: 0.06em)
  show heading: it => block(text(size: 0.8em, weight: "regular", upper(it.body)))
  heading(level: 2, title)
})

// What is wider than the page is made smaller, and never cut off.
#let fitted(body) = layout(size => {
  let natural = measure(body).width
  if natural > size.width { scale(size.width / natural * 100%, reflow: true, body) } else { body }
})
// A formula on a line of its own; one of several pieces goes on in the next line between two of them.
#let displayed(alt, ..parts) = {
  let pieces = parts.pos()
  if pieces.len() == 1 {
    let formula = math.equation(block: true, alt: alt, pieces.first())
    if alt.len() > 90 { fitted(formula) } else { formula }
  } else {
    // Whoever has it read aloud hears the whole formula at its first piece.
    let words(place) = if place == 0 { alt } else { "continued" }
    let row = block(width: 100%, above: 1.1em, below: 1.1em, align(center, {
      // A formula in a line may reach into 0.7 of the leading above and below it.
      set par(leading: 0.3em)
      let boxes = pieces.enumerate().map(((n, piece)) => box(
        math.equation(alt: words(n), math.display(piece))))
      boxes.first() ; for rest in boxes.slice(1) { h(2em, weak: true) ; rest }
    }))
    let is-wide(size) = pieces.any(piece => measure(math.equation(math.display(piece))).width > size.width)
    let lines = pieces.enumerate().map(((n, piece)) => fitted(
      math.equation(block: true, alt: words(n), piece))).join()
    if alt.len() > 90 { layout(size => if is-wide(size) { lines } else { row }) } else { row }
  }
}
#let prose-table(columns, head, cells) = block(above: 1em, below: 1em, fitted(table(
  columns: columns, stroke: none, inset: (x: 0.7em, y: 0.4em), align: left + horizon,
  table.hline(stroke: 0.8pt), table.header(..head.map(strong)), table.hline(stroke: 0.5pt),
  ..cells, table.hline(stroke: 0.8pt))))
#let prose-picture(svg, alt, caption) = block(above: 1em, below: 1em, breakable: false, {
  let picture = image(bytes(svg), format: "svg", alt: alt)
  layout(size => {
    let natural = measure(picture).width
    if natural > size.width { image(bytes(svg), format: "svg", alt: alt, width: 100%) } else { picture }
  })
  if caption != "" { block(above: 0.5em, text(size: 0.85em, fill: soft, caption)) }
})
// On one page: for certain, never, or (auto) if it proves low enough once it is measured.
#let kept(together, above, below, body) = {
  let placed(breakable) = block(above: above, below: below, breakable: breakable, width: 100%, body)
  if together == auto {
    context placed(measure(block(width: text-width, body)).height > most-together)
  } else { placed(not together) }
}
#let question(level, label, title, points, together, body) = kept(together, 2em, 1.2em, {
  block(below: 1em, sticky: true, width: 100%, grid(columns: (1fr, auto), column-gutter: 1em,
    heading(level: level, { label ; h(0.7em) ; title }), align(right, text(fill: soft, points))))
  body
})
#let part(label, points, together, prompt, body) = kept(together, 1.4em, 1em, {
  block(sticky: true, width: 100%, grid(columns: (2.4em, 1fr, auto), column-gutter: 0.3em,
    strong(label), prompt, text(fill: soft, points)))
  body
})
#let hint(body) = block(above: 1em, below: 0.8em, text(size: 0.9em, fill: soft, body))
#let option(letter, together, body, mark: none) = block(above: 0.75em, below: 0.75em, width: 100%,
  breakable: not together,
  grid(columns: (1.2em, 1.5em, 1fr), align: (left, left, left),
    if mark == none [] else { strong(mark) }, strong(letter), body))
#let note(title, body) = block(above: 1em, below: 1em, width: 100%, inset: (left: 0.9em, y: 0.2em),
  stroke: (left: 1.5pt + luma(60%)), { strong(title) ; h(0.4em) ; body })
// Room to work in, and lines to write on.
#let working(label, height) = block(above: 1em, below: 0.6em, width: 100%, height: height, breakable: false,
  stroke: hairline, radius: 2pt, inset: 0.5em, text(size: 0.75em, fill: soft, label))
#let ruled(lines, gap) = block(above: 1.2em, below: 0.6em, width: 100%, breakable: true,
  for _ in range(lines) {
    block(above: 0pt, below: 0pt, width: 100%, height: gap, stroke: (bottom: hairline))
  })
"""


def exam_head(
    *, title: str, paper: str, large: bool, codes: str, header: str, footer: str, language: str = "en"
) -> str:
    """Return the Typst source that an exam or key begins with.

    Parameters
    ----------
    title : str
        Of the document.
    paper : str
        ``a4`` or ``letter``.
    large : bool
        Whether it is in large print.
    codes : str
        Code for an array of images, one for each page; ``()`` for pages without codes.
    header, footer : str
        At the left of each page's head, and of its foot.
    language : str
        Of the text.
    """
    width, height = PAPER_SIZES[paper]
    size = _LARGE_TEXT_SIZE if large else _TEXT_SIZE
    # An author of their own would say who drew an exam; a date when.
    return f"""#set document(title: {typst_string(title)}, author: (), date: none)
#let text-fonts = {_font_list(TEXT_FONTS)}
#let code-fonts = {_font_list(CODE_FONTS)}
#set text(font: text-fonts, size: {size:g}pt, lang: {typst_string(language)}, hyphenate: false)
#show math.equation: set text(font: ("New Computer Modern Math", ..text-fonts))
#let codes = {codes}
#let text-width = {width - 2 * _SIDE:g}mm
#let most-together = {MOST_MEASURED[large]:g}pt
#set page(width: {width:g}mm, height: {height:g}mm,
  margin: (x: {_SIDE:g}mm, top: {_ABOVE if codes != "()" else _BELOW:g}mm, bottom: {_BELOW:g}mm),
  header-ascent: 8mm,
  header: context {{
    let place-of = counter(page).get().first()
    set text(size: 0.82em, fill: luma(35%))
    grid(columns: (1fr, auto), align: (left + horizon, right + horizon),
      {typst_string(header)}, codes.at(place-of - 1, default: none))
    // The back of the last questions: nobody is to look for what is missing there.
    if query(<{END_LABEL}>).any(end => end.location().page() < place-of) {{
      place(dy: 14mm, block(width: 100%, align(center)[This page is left blank. You may use it for working.]))
    }}
  }},
  footer: context {{
    set text(size: 0.82em, fill: luma(35%))
    {typst_string(footer)} ; h(1fr) ; [Page #counter(page).display() of #page-count]
  }})
{_DEFINITIONS}"""


def _font_list(names: tuple[str, ...]) -> str:
    return "(" + ", ".join(typst_string(name) for name in names) + ")"
