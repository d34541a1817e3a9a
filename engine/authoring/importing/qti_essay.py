"""Answers in words of a QTI 3 item: what their markers read becomes the table that the importer knows."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape

from engine.authoring.importing.foreign_question import ForeignQuestion, MarkedText, QuestionKind, TextForm
from engine.authoring.importing.qti_item import html_of, plain_words
from engine.authoring.importing.xml_tree import XmlElement

# as our own export writes a criterion and its levels
_CRITERION = re.compile(r"(.+) \(([0-9.]{1,12}) points?\)", re.DOTALL)
_LEVEL = re.compile(r"([0-9.]{1,12}) points?: ")


def essay_field(question: ForeignQuestion, rubric: XmlElement | None, *, is_own: bool) -> ForeignQuestion:
    """Return an answer in words with what its markers read: a table of criteria, where there is one.

    Parameters
    ----------
    question : ForeignQuestion
    rubric : XmlElement or None
    is_own : bool
        Whether Softmark wrote it, as a list of criteria.
    """
    if rubric is None:
        grader = ""
    elif is_own:
        grader = _own_rubric(rubric)
    else:
        grader = html_of(rubric.content)
    return replace(question, kind=QuestionKind.ESSAY, grader=MarkedText(grader, TextForm.HTML))


def _own_rubric(rubric: XmlElement) -> str:
    """Return the list of criteria that our export writes as the table that the importer reads."""
    body = rubric.first("qti-content-body") or rubric  # QTI 2 has no element for it
    criteria = body.first("ul")
    if criteria is None:
        return html_of(rubric.content)
    rows = "".join(_criterion(entry) for entry in criteria.every("li"))
    rest = [node for node in body.content if node is not criteria]
    return f"<table><tr><th>criterion</th><th>points</th><th>text</th></tr>{rows}</table>{html_of(rest)}"


def _criterion(entry: XmlElement) -> str:
    head = entry.first("p")
    match = _CRITERION.fullmatch(plain_words(head)) if head is not None else None
    title, points = (match[1], match[2]) if match is not None else ("", "")
    levels = entry.first("ul")
    text = html_of([node for node in entry.content if node is not head and node is not levels])
    rows = [(escape(title, quote=False), points, text)]
    for level in levels.every("li") if levels is not None else ():
        worth = _LEVEL.match(plain_words(level))
        if worth is not None:
            rows.append(("", worth[1], _LEVEL.sub("", html_of(level.content).lstrip(), count=1)))
    return "".join(f"<tr><td>{a}</td><td>{b}</td><td>{c}</td></tr>" for a, b, c in rows)
