"""What the elements of a question hold: texts, numbers, switches, answers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from engine.exchange.moodle_xml.tree import Element
from engine.exchange.numerals import read_decimal, read_share
from engine.exchange.question import NOTHING, Answer, Form, Markup
from engine.exchange.reading import Faults
from engine.spec.text_file import shown

__all__ = ["Fields"]

_FORMS = {
    "html": Form.HTML,
    "moodle_auto_format": Form.AUTO,
    "plain_text": Form.PLAIN,
    "plain": Form.PLAIN,
    "markdown": Form.MARKDOWN,
    "1": Form.HTML,
    "0": Form.AUTO,
    "2": Form.PLAIN,
    "4": Form.MARKDOWN,
}


class Fields:
    """Reads the elements of one question; what can't be read is a fault at its place."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def words(self, parent: Element, tag: str) -> str:
        """Return the text of ``<tag>`` or of ``<tag><text>``, blanks trimmed; empty if there is none."""
        element = parent.first(tag)
        return self._text(element).strip() if element is not None else ""

    def markup(self, parent: Element, tag: str, otherwise: Form = Form.AUTO) -> Markup:
        """Return the text of ``<tag format="…"><text>``; empty if there is none."""
        element = parent.first(tag)
        return self.own_markup(element, otherwise) if element is not None else NOTHING

    def own_markup(self, element: Element, otherwise: Form = Form.AUTO) -> Markup:
        """Return the text that an element with ``format`` holds itself."""
        named = element.attributes.get("format", "").strip().lower()
        form = _FORMS.get(named, otherwise)
        if named and named not in _FORMS:
            self.faults.add(element.place, f"there is no text format '{shown(named, 30)}' in Moodle XML")
        return Markup(self._text(element), form)

    def _text(self, element: Element) -> str:
        inner = element.first("text")
        holder = element if inner is None else inner
        for child in holder.children:
            if holder is inner or child.tag not in ("text", "file", "feedback", "answer"):
                message = f"a text can't hold the element <{shown(child.tag, 30)}>"
                self.faults.add(child.place, f"{message}; put HTML into <![CDATA[ … ]]>")
                return ""
        return holder.text

    def switch(self, parent: Element, tag: str, otherwise: bool) -> bool:
        """Return a value that is true or false."""
        element = parent.first(tag)
        word = self.words(parent, tag).lower()
        if element is None or not word:
            return otherwise
        if word not in ("true", "false", "1", "0"):
            self.faults.add(element.place, f"<{tag}> is true or false, not '{shown(word, 30)}'")
        return word in ("true", "1")

    def number(self, parent: Element, tag: str, otherwise: Decimal) -> Decimal:
        """Return a number that isn't negative."""
        element, word = parent.first(tag), self.words(parent, tag)
        if element is None or not word:
            return otherwise
        value = read_decimal(word)
        if value is None or value < 0:
            message = f"<{tag}> is a number from 0 on, such as 1 or 0.5, not '{shown(word, 30)}'"
            self.faults.add(element.place, message)
            return otherwise
        return value

    def answers(self, question: Element, otherwise: Form = Form.HTML) -> tuple[Answer, ...]:
        """Return the answers of a question, each with its share of the points and its feedback."""
        return tuple(self.answer(element, otherwise) for element in question.every("answer"))

    def answer(self, element: Element, otherwise: Form = Form.HTML) -> Answer:
        """Return one answer."""
        text = self.own_markup(element, otherwise)
        return Answer(text, self._share(element), self.markup(element, "feedback", Form.HTML), element.place)

    def _share(self, element: Element) -> Fraction:
        word = element.attributes.get("fraction", self.words(element, "fraction"))
        share = read_share(word)
        if share is None:
            said = f"not '{shown(word, 30)}'" if word else "and this answer states none"
            message = f"'fraction' is a percentage from -100 to 100, such as 100 or 33.33333, {said}"
            self.faults.add(element.place, message)
            return Fraction(0)
        return share
