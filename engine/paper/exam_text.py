"""The pages of one exam as Typst source: cover and questions, without a key.

The answer sheet follows them on pages of its own. It is drawn from its layout, by
:mod:`engine.paper.sheet_drawing`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from engine.answers import kind_of
from engine.model import Part, QuizQuestion, RenderedText
from engine.paper.block_heights import fits_together
from engine.paper.print_record import PrintedPart, PrintedQuestion
from engine.paper.typst_text import typst_flag, typst_option, typst_plain, typst_text
from engine.text.words import clean_line, count_noun, points_text, typst_string

# Height of the space for working in mm, by type: a product of matrices needs more than a number.
_WORKING = {"number": 35, "vector": 46, "matrix": 62, "token": 20}
_RULED_LINES = {"free_text": 8}
_LINE_HEIGHT = 9  # in mm
# Letters of a name that are side by side on the cover, also in large print.
_LONGEST_WORD = 24
# Twice as high as in ordinary print, so many rows of two lines still fit on a page.
_SHORT_TABLE = 10


@dataclass(frozen=True, slots=True)
class ExamCover:
    """What the first page says.

    Parameters
    ----------
    course, title : str
    name : str
        The student's; empty on a spare copy.
    student : str
        The student's id; empty on a spare copy.
    version : str
        Letter of the version, empty where each copy has its own.
    copy : int
    minutes : float or None
        How long it takes.
    notes : tuple of str
        Further rules, such as which aids are allowed.
    has_other_versions : bool
        Whether neighbours may have another version.
    """

    course: str
    title: str
    name: str
    student: str
    version: str
    copy: int
    minutes: float | None = None
    notes: tuple[str, ...] = ()
    has_other_versions: bool = True

    @property
    def owner(self) -> str:
        """Whose it is, as the head of every page says it."""
        if not self.student:
            return f"Copy {self.copy}"
        name = clean_line(self.name, 80)
        return f"{name} ({self.student})" if name else self.student


def exam_body(
    cover: ExamCover,
    ordered: Sequence[QuizQuestion],
    printed: Sequence[PrintedQuestion],
    *,
    large: bool = False,
) -> str:
    """Return the Typst source of cover and questions.

    Parameters
    ----------
    cover : ExamCover
    ordered : sequence of QuizQuestion
        In the order printed.
    printed : sequence of PrintedQuestion
        As the record has them, in the same order.
    large : bool
        Whether it is in large print.
    """
    parts = [_cover(cover, ordered, printed), "#pagebreak(weak: true)"]
    # Headings of questions are one below those of sections, where there are any.
    section = ""
    level = 3 if ordered and ordered[0].section else 2
    for question, entry in zip(ordered, printed, strict=True):
        if question.section and question.section != section:
            parts.append(f"#section({typst_string(question.section)})")
        section = question.section
        parts.append(_question(question, entry, level, large))
    return "\n\n".join(parts)


def _cover(cover: ExamCover, ordered: Sequence[QuizQuestion], printed: Sequence[PrintedQuestion]) -> str:
    total = sum(question.points for question in ordered)
    facts = [count_noun(len(ordered), "question"), points_text(total)]
    if cover.minutes is not None:
        facts.append(count_noun(round(cover.minutes), "minute"))
    if cover.version:
        facts.append(f"version {cover.version}")
    rows = ", ".join(
        f"{typst_string(entry.label)}, {typst_string(question.variant.title)}, "
        f"{typst_string(points_text(question.points))}"
        for question, entry in zip(ordered, printed, strict=True)
    )
    # A short table moves to the next page as a whole, where large print leaves it no room.
    breakable = typst_flag(len(ordered) > _SHORT_TABLE)
    types = {part.type for question in ordered for part in question.variant.parts}
    rules = "\n".join(f"- {typst_plain(rule)};" for rule in (*_rules(cover, types), *cover.notes))
    return f"""#text(fill: soft, tracking: 0.04em, {typst_string(cover.course)})
#v(0.2em)
#heading(level: 1, {typst_string(cover.title)})
#v(0.4em)
#text(fill: soft, {typst_string(" · ".join(facts))})
#v(1.4em)
{_owner_box(cover)}
#v(1.2em)
{rules}
#v(1.2em)
#block(width: 100%, breakable: {breakable}, table(
  columns: (auto, 1fr, auto), stroke: none, inset: (x: 0.4em, y: 0.42em), align: (left, left, right),
  table.hline(stroke: 0.8pt),
  table.header(strong[No.], strong[Question], strong[Points]), table.hline(stroke: 0.5pt),
  {rows}, table.hline(stroke: 0.5pt),
  [], strong[Total], strong({typst_string(points_text(total))})))"""


def _owner_box(cover: ExamCover) -> str:
    # Nobody writes a name on a copy that has one: a form to fill in would only invite slips.
    if cover.student:
        name = cover.name or cover.student
        shown_name = f"text(size: 1.5em, {typst_string(clean_line(name, 200))})"
        # Names are broken between words; a word that is wider than the page is made smaller.
        if max(map(len, name.split()), default=0) > _LONGEST_WORD:
            shown_name = f"fitted({shown_name})"
        inner = (
            f"#block(below: 0.8em, {shown_name})"
            f"#text(fill: soft, {typst_string(f'Student {cover.student}, copy {cover.copy}')})"
        )
    else:
        inner = (
            "#grid(columns: (auto, 1fr), column-gutter: 0.8em, row-gutter: 1.6em, align: bottom,"
            "[Name], line(length: 100%, stroke: 0.5pt), [Student number], line(length: 100%, stroke: 0.5pt))"
            f"#v(0.8em, weak: true)#text(fill: soft, {typst_string(f'Spare copy {cover.copy}')})"
        )
    return f"#block(width: 100%, inset: 1.1em, stroke: hairline, radius: 3pt)[{inner}]"


def _rules(cover: ExamCover, types: Collection[str]) -> list[str]:
    rules = [
        "Only the answer sheet at the end is marked. Its fields have the numbers of the questions.",
        "Fill bubbles in completely with a dark pen or pencil. Erase a wrong one cleanly; if you "
        "can't, cross it out beyond its edge, and a person will look at it.",
        "The space for working is yours: nothing in it counts.",
    ]
    if not {"number", "vector", "matrix"}.isdisjoint(types):
        rules.insert(
            2,
            "Write a number into the boxes above the columns, then fill the bubble of each digit below it. "
            "Places that a number doesn't need, at its beginning or end, may stay empty.",
        )
    if not cover.student:
        rules.insert(0, "Write your name above, and fill in your student number on the answer sheet as well.")
    if cover.version and cover.has_other_versions:
        rules.append("Your neighbours have other versions, with other numbers and another order.")
    return rules


def _question(question: QuizQuestion, entry: PrintedQuestion, level: int, large: bool) -> str:
    variant = question.variant
    stem = [typst_text(variant.stem)]
    stem += [f"#note([Note:], [{typst_text(note)}])" for note in variant.notes]
    texts = [variant.stem, *variant.notes, *(part.prompt for part in variant.parts if part.prompt)]
    together = _kept_together(texts, variant.parts, large)
    body = ["\n\n".join(stem)]
    if together != "true":
        # What is asked stays in one piece, also where the question as a whole proves too high.
        about = _kept_together([variant.stem, *variant.notes], (), large)
        body = [f"#kept({about}, auto, auto, [\n{body[0]}\n])"]
    if len(variant.parts) == 1:
        body += _field(variant.parts[0], entry.parts[0], large)
    else:
        for part, printed in zip(variant.parts, entry.parts, strict=True):
            prompt = typst_text(part.prompt) if part.prompt else typst_plain(part.id)
            points = typst_string(points_text(part.points))
            field = "\n\n".join(_field(part, printed, large))
            step = _kept_together([part.prompt] if part.prompt else [], [part], large)
            body.append(f"#part({typst_string(printed.label)}, {points}, {step}, [{prompt}], [\n{field}\n])")
    head = f"{level}, {typst_string(entry.label)}, {typst_string(variant.title)}"
    joined = "\n\n".join(body)
    return f"#question({head}, {typst_string(points_text(question.points))}, {together}, [\n{joined}\n])"


def _kept_together(texts: Sequence[RenderedText], parts: Sequence[Part], large: bool) -> str:
    """Return whether a block isn't broken, as Typst's value: ``auto`` has it measured."""
    options = [option.text for part in parts for option in (*part.options, *part.prompts)]
    room = sum(_room(part) for part in parts)
    return "true" if fits_together(texts, options, room, large=large) else "auto"


def _room(part: Part) -> float:
    """Return the height of the space that a part is given, in mm."""
    if part.type in _RULED_LINES:
        return _LINE_HEIGHT * _RULED_LINES[part.type]
    return 0 if part.options else _WORKING.get(part.type, 10 * kind_of(part.type).lines_on_paper)


def _field(part: Part, printed: PrintedPart, large: bool) -> list[str]:
    sentences = [f"Field {printed.label} of the answer sheet", *_hints(part)]
    lines = [f"#hint[{typst_plain(' · '.join(sentences))};]"]
    lines += [typst_option(f"{prompt.id}.", prompt.text, large=large) for prompt in part.prompts]
    if part.prompts and part.options:
        lines.append("#hint[Choose from:]")
    lines += [typst_option(f"({option.id})", option.text, large=large) for option in part.options]
    if part.type in _RULED_LINES:
        lines.append("#hint[Lines for a draft: only what is in the box on the answer sheet is marked.]")
        lines.append(f"#ruled({_RULED_LINES[part.type]}, {_LINE_HEIGHT}mm)")
    elif _room(part):
        lines.append(f"#working([Working], {_room(part):g}mm)")
    return lines


def _hints(part: Part) -> list[str]:
    kind = kind_of(part.type)
    hints = []
    if not part.options and (blank := kind.blank_hint(part)):
        # How numbers are parted matters where they are typed; the sheet has a field for each.
        hints.append(blank.partition(", separated")[0])
    if kind.shows_policy:
        hints.append(kind.policy(part))
    return hints
