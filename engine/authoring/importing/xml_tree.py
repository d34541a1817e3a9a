"""XML as a tree whose elements know their place in the file.

Read by defusedxml, since entities of a stranger's file can expand without end, and bounded while it is read:
a tree that is too deep, too wide or too large stops the reading with a fault at that place. After a fault of
the XML the questions before it are kept, so that ``--keep-going`` has something to import.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml import DefusedXmlException
from defusedxml.sax import make_parser

from engine.authoring.importing.foreign_question import MAX_QUESTIONS, FileFaults, FilePlace, SourceText
from engine.text.words import clean_line, count_noun

MAX_DEPTH = 32  # Moodle's own files have six levels
MAX_ELEMENTS = 250_000  # of the largest bank: 5,000 questions with fifty elements each
MAX_INSIDE = 2_000
"""Elements in one element; in the root there may be as many as a file has questions."""
_LONG_TAG = re.compile(r"<[A-Za-z][^<>]{99999}")
_UNREAD = {"file"}  # pictures and other attachments


@dataclass(frozen=True, slots=True)
class TreeBounds:
    """How large a tree may be, and what to do about one that is larger.

    Parameters
    ----------
    depth, elements, inside : int
        Nested elements; all of them; those in one element that isn't the root.
    in_root : int
        Elements in the root.
    crowded, deep : str
        What to do about a root with more, or elements that are nested deeper.
    """

    depth: int = MAX_DEPTH
    elements: int = MAX_ELEMENTS
    inside: int = MAX_INSIDE
    in_root: int = MAX_QUESTIONS
    crowded: str = f"a file holds at most {MAX_QUESTIONS:,} questions; export fewer categories at a time"
    deep: str = "put HTML into <![CDATA[ … ]]>"


@dataclass(slots=True)
class XmlElement:
    """An element with its place, attributes, text and the elements in it."""

    tag: str
    place: FilePlace
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[XmlElement] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    content: list[XmlElement | str] = field(default_factory=list)
    """Elements and characters in their order."""

    @property
    def text(self) -> str:
        """The characters that stand directly in it."""
        return "".join(self.pieces)

    def first(self, tag: str) -> XmlElement | None:
        """Return the first element of a name in it, None if there is none."""
        return next((child for child in self.children if child.tag == tag), None)

    def inside(self) -> Iterator[XmlElement]:
        """Yield all elements in it, however deep, in the order of the file."""
        waiting = list(reversed(self.children))
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)

    def every(self, tag: str) -> Iterator[XmlElement]:
        """Yield the elements of a name in it."""
        return (child for child in self.children if child.tag == tag)


def read_tree(source: SourceText, faults: FileFaults, bounds: TreeBounds | None = None) -> XmlElement | None:
    """Return the root element, or as much of it as could be read; faults are added to ``faults``.

    After a fault of the XML only those children of the root that end before it are kept.
    """
    # the parser hands over a tag only whole: a million attributes would be in memory before they are counted
    if (long := _LONG_TAG.search(source.text)) is not None:
        faults.add(source.place(long.start()), "this tag is longer than any; are its quotes closed?")
        return None
    parser = make_parser()
    parser.forbid_dtd = True
    handler = _Handler(parser, faults, bounds or TreeBounds())
    parser.setContentHandler(handler)
    parser.setErrorHandler(handler)
    try:
        parser.feed(source.text)
        parser.close()
    except SAXParseException as problem:
        place = FilePlace(problem.getLineNumber() or 1, (problem.getColumnNumber() or 0) + 1)
        faults.add(place, handler.explain(problem.getMessage()))
        return handler.whole()
    except DefusedXmlException:
        message = "a DOCTYPE or an entity can't be declared here; delete the declaration"
        faults.add(handler.here(), message)
        return handler.whole()
    except _TooMuch as problem:
        faults.add(handler.here(), str(problem))
        return handler.whole()
    return handler.root


class _TooMuch(Exception):  # noqa: N818 - ends the reading
    """The file is deeper or longer than any question bank."""


class _Handler(ContentHandler):
    """Builds the tree, and keeps those of the root's children that are complete."""

    def __init__(self, parser: object, faults: FileFaults, bounds: TreeBounds) -> None:
        super().__init__()
        self._parser = parser
        self._bounds = bounds
        self._faults = faults
        self._open: list[XmlElement] = []
        self._count = 0
        self.root: XmlElement | None = None

    def here(self) -> FilePlace:
        """Return where the parser stands."""
        line, column = self._parser.getLineNumber(), self._parser.getColumnNumber()  # type: ignore[attr-defined]
        return FilePlace(line or 1, (column or 0) + 1)

    def whole(self) -> XmlElement | None:
        """Return the root without the child that was being read."""
        if self.root is not None and len(self._open) > 1:
            self.root.children.pop()
            self.root.content.clear()
        return self.root

    def startElement(self, name: str, attrs: AttributesImpl[str]) -> None:  # noqa: N802
        self._count += 1
        bounds = self._bounds
        if len(self._open) >= bounds.depth:
            raise _TooMuch(f"elements are nested more than {bounds.depth} deep; {bounds.deep}")
        if self._count > bounds.elements:
            raise _TooMuch(f"the file holds more than {count_noun(bounds.elements, 'element', ',')}")
        if len(self._open) == 1 and len(self._open[0].children) >= bounds.in_root:
            raise _TooMuch(bounds.crowded)
        if len(self._open) > 1 and len(self._open[-1].children) >= bounds.inside:
            tag = clean_line(self._open[-1].tag, 40)
            raise _TooMuch(f"<{tag}> holds more than {count_noun(bounds.inside, 'element', ',')}")
        element = XmlElement(name, self.here(), dict(attrs.items()))
        if self._open:
            self._open[-1].children.append(element)
            self._open[-1].content.append(element)
        else:
            self.root = element
        self._open.append(element)

    def endElement(self, name: str) -> None:  # noqa: N802
        self._open.pop()

    def characters(self, content: str) -> None:
        if self._open[-1].tag not in _UNREAD:
            self._open[-1].pieces.append(content)
            self._open[-1].content.append(content)

    def error(self, exception: SAXParseException) -> None:
        raise exception

    def fatalError(self, exception: SAXParseException) -> None:  # noqa: N802
        raise exception

    def warning(self, exception: SAXParseException) -> None:
        return

    def explain(self, complaint: str) -> str:
        """Return the parser's complaint in our words, with what to do."""
        inner = self._open[-1] if self._open else None
        opened = f"<{clean_line(inner.tag, 40)}> of line {inner.place.line}" if inner is not None else ""
        if "mismatched tag" in complaint:
            return (
                f"this end tag closes nothing; {opened} is still open"
                if opened
                else "this tag closes nothing"
            )
        if "no element found" in complaint or "unclosed" in complaint:
            return f"the file ends while {opened} is open" if opened else "the file holds no XML element"
        if "undefined entity" in complaint:
            return "XML has no such entity; put the text into <![CDATA[ … ]]>, or write the character itself"
        if "junk after document element" in complaint:
            return "the XML has ended before this; everything belongs inside one <quiz>"
        if "not well-formed" in complaint:
            return "a character that XML doesn't allow here; write & as &amp; and < as &lt;, or use CDATA"
        return f"this isn't XML: {clean_line(complaint, 100)}"
