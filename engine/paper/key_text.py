"""The key booklet of one version as Typst source: for the instructor alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.paper.print_record import PrintedPart, PrintedQuestion
from engine.paper.typst_text import typst_option, typst_plain, typst_text
from engine.quiz.answer_key import KeyPart, KeyQuestion
from engine.text.words import points_text, typst_string


def key_body(
    course: str,
    title: str,
    copies: str,
    keys: Mapping[int, KeyQuestion],
    printed: Sequence[PrintedQuestion],
) -> str:
    """Return the Typst source of a key booklet.

    Parameters
    ----------
    course, title : str
    copies : str
        Which copies it is for, in words.
    keys : mapping of int to KeyQuestion
        By the question's number in the quiz.
    printed : sequence of PrintedQuestion
        In the order printed.
    """
    head = f"""#text(fill: soft, tracking: 0.04em, {typst_string(course)})
#v(0.2em)
#heading(level: 1, {typst_string(f"Key: {title}")})
#text(fill: soft, {typst_string(f"For the instructor alone. {copies}")})"""
    return "\n\n".join([head, *(_question(keys[entry.number], entry) for entry in printed)])


def _question(key: KeyQuestion, entry: PrintedQuestion) -> str:
    variant = key.question.variant
    # As students read it, numbers included: whoever answers a question about a copy needs no other file.
    body = [typst_text(variant.stem)]
    body += [f"#note([Note:], [{typst_text(note)}])" for note in (*variant.notes, *variant.told_after)]
    for part, printed in zip(key.parts, entry.parts, strict=True):
        body += _part(part, printed, len(key.parts) > 1)
    if key.solution is not None:
        body.append(f"#note([Worked solution], [\n{typst_text(key.solution)}\n])")
    head = f"2, {typst_string(entry.label)}, {typst_string(variant.title)}"
    joined = "\n\n".join(body)
    return f"#question({head}, {typst_string(points_text(entry.points))}, false, [\n{joined}\n])"


def _part(key: KeyPart, printed: PrintedPart, several: bool) -> list[str]:
    part = key.part
    lines = [typst_option(f"{prompt.id}.", prompt.text) for prompt in part.prompts]
    lines += [
        typst_option(f"({option.id})", option.text, is_right=option in key.options) for option in part.options
    ]
    lines.append(f"#note([Key:], {typst_string(key.key)})")
    if key.accepted and key.accepted != key.key:
        lines.append(f"#hint[{typst_plain(f'Counts as right: {key.accepted}')};]")
    lines.append(f"#hint[{typst_plain(f'Scored: {key.policy}')};]")
    # What is right is seen beside what isn't: options, key and policy stand on one page if a page holds them.
    body = "\n\n".join(lines)
    if not several:
        return [f"#kept(auto, auto, auto, [\n{body}\n])"]
    prompt = typst_text(part.prompt) if part.prompt else typst_plain(part.id)
    points = typst_string(points_text(part.points))
    return [f"#part({typst_string(printed.label)}, {points}, auto, [{prompt}], [\n{body}\n])"]
