"""QTI 2.1, converted from our QTI 3.0: many platforms read nothing newer.

The converter is that of the group which also makes one of the players; what it leaves is mended here. It goes
through an item twenty times, element by element, and so takes ten times as long as writing the item. But of
the elements that we write, what it makes of a tag doesn't depend on what stands around it: it is asked once
for each tag of a package, and the texts in between stay as they are. The tests compare the result, to the
byte, with what it makes of each file as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from engine.errors import UsageError
from engine.export.exported_item import ExportedQuiz
from engine.export.formats import QuizFormat
from engine.export.qti.package_files import family_losses, package_files
from engine.export.qti.package_xml import MANIFEST
from engine.export.qti.xml_pieces import QTI_NAMESPACE
from engine.text.files import zip_bytes

if TYPE_CHECKING:
    from qti_convert import Qti21ConversionResult

__all__ = ["FORMAT", "qti21_files"]

# What no tag of a QTI 2.1 package may be or hold: an element of QTI 3, one of its addresses. A title may.
_LEFT_OVER = re.compile(
    r'^</?qti-[a-z]|(?:template|xmlns(?::\w+)?|schemaLocation)="[^"]*(?:/qti/v3p0|imsqtiasi_v3p0)'
)
# The converter knows the addresses of response processing by one spelling only.
_TEMPLATE = re.compile(r'template="https?://[^"]*?v3p0/rptemplates/([a-z_]+)(?:\.xml)?"')
_OLD_TEMPLATES = "http://www.imsglobal.org/question/qti_v2p1/rptemplates"
_TAG = re.compile("<[^<>]*+>")
# Tags with no text between them: most of these runs are the same in all variants of an item.
_RUN = re.compile("((?:<[^<>]*+>)++)")
_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
_WITHOUT_CONTENT = re.compile(r"<([A-Za-z][A-Za-z0-9]*+)([^<>]*+)></\1>")
_SHARED_CLASS = re.compile(r' class="(?:[^"]* )?qti-')
# What a text can't hold if it is to be written as it was read.
_REWRITTEN = re.compile(r"\r|&(?!amp;|lt;|gt;)")
_RESOURCE = re.compile(
    r'<resource identifier="([^"]*)" type="imsqti_(item|test)_xmlv3p0" href="([^"]*)">(.*?)</resource>',
    re.DOTALL,
)
_ROOT_NAMES = re.compile('identifier="[^"]*" title="[^"]*"')
_NO_NAMES = 'identifier="" title=""'
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
# The elements of our items for which all this holds; an item with any other is converted as a whole.
_HTML = frozenset(
    {
        "p", "div", "span", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong",
        "em", "code", "pre", "blockquote", "br", "img",
    }
)  # fmt: skip
_MATHS = frozenset(
    {
        "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub",
        "msup", "msubsup", "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle",
        "mpadded", "mphantom",
    }
)  # fmt: skip
_QTI = frozenset(
    f"qti-{name}"
    for name in (
        "and", "choice-interaction", "content-body", "correct", "correct-response", "default-value",
        "equal", "extended-text-interaction", "feedback-block", "gt", "gte", "index", "is-null",
        "item-body", "lt", "lte", "map-entry", "map-response", "mapping", "match",
        "match-interaction", "member", "modal-feedback", "not", "or", "order-interaction",
        "outcome-declaration", "prompt", "response-condition", "response-declaration",
        "response-else", "response-else-if", "response-if", "response-processing", "rubric-block",
        "set-outcome-value", "simple-associable-choice", "simple-choice", "simple-match-set",
        "string-match", "subtract", "sum", "text-entry-interaction", "base-value", "value",
        "variable",
    )
)  # fmt: skip


def _write(quiz: ExportedQuiz, step: Callable[[], None]) -> bytes:
    return zip_bytes(qti21_files(package_files(quiz, step)))


def qti21_files(files: Mapping[str, str | bytes]) -> dict[str, str | bytes]:
    """Return the files of a QTI 3 package as those of a QTI 2.1 package, in the same order.

    Parameters
    ----------
    files : mapping of str to str or bytes
        As :func:`engine.export.qti.package_files.package_files` returns them.

    Raises
    ------
    UsageError
        The converter isn't installed.
    ValueError
        It left something of QTI 3 in a file: our own items hold nothing that it doesn't know.
    """
    try:
        import qti_convert
    except ImportError as error:
        raise UsageError(
            "QTI 2.1 needs a converter that isn't installed",
            expected="the package citolab-qti-convert",
            next_step='pip install "softmark[exchange]"',
        ) from error
    converter, converted = _ItemConverter(), dict(files)
    for path, content in files.items():
        if path.endswith(".xml") and path != MANIFEST:
            text = content if isinstance(content, str) else content.decode()
            converted[path] = converter.converted(path, text)
    if converter.styled:
        converted[_stylesheet_href("")] = qti_convert.QTI3_SHARED_VOCABULARY_CSS
    if (manifest := files.get(MANIFEST)) is not None:
        text = manifest if isinstance(manifest, str) else manifest.decode()
        converted[MANIFEST] = _converted_manifest(text, converter.styled)
    return converted


def _stylesheet_href(path: str) -> str:
    """Return the address of the stylesheet, which lies beside the manifest, as a file writes it."""
    from qti_convert import QTI3_SHARED_VOCABULARY_CSS_PATH

    return "../" * path.count("/") + QTI3_SHARED_VOCABULARY_CSS_PATH


class _UnknownTag(Exception):  # noqa: N818 - the item is converted as a whole
    pass


class _ItemConverter:
    """Converts items; what became of their tags is kept for the next one."""

    def __init__(self) -> None:
        self.styled: set[str] = set()
        """The paths of items with classes for which the package holds a stylesheet."""
        self._tags: dict[str, str] = {}
        self._runs: dict[str, str] = {}
        self._styled_runs: set[str] = set()

    def converted(self, path: str, text: str) -> str:
        """Return a file of QTI 3 as one of QTI 2.1, as the converter gives it."""
        return self._by_tags(path, text) or self._as_a_whole(path, text)

    def _as_a_whole(self, path: str, text: str) -> str:
        result = _conversion(text, _stylesheet_href(path))
        if any(warning.code == "shared-vocabulary-stylesheet" for warning in result.warnings):
            self.styled.add(path)
        return _TAG.sub(lambda tag: _mended(tag[0]), result.xml)

    def _by_tags(self, path: str, text: str) -> str | None:
        """Return the file; None where it isn't an item, or holds what must be looked at as a whole."""
        head, start, rest = text.partition("<qti-assessment-item ")
        attributes, end, rest = rest.partition(">")
        content, root_end, after = rest.rpartition("</qti-assessment-item>")
        if not (end and root_end) or (head + after).strip() not in ("", _DECLARATION):
            return None
        if (names := _ROOT_NAMES.search(attributes)) is None:
            return None
        pieces = _RUN.split(content)
        if any(_REWRITTEN.search(words) for words in pieces[::2]):
            return None
        runs = pieces[1::2]
        try:
            pieces[1::2] = [self._runs.get(run) or self._run(run) for run in runs]
        except _UnknownTag:
            return None
        inside = "".join(pieces)
        if not self._styled_runs.isdisjoint(runs):
            self.styled.add(path)
            sheet = f'<stylesheet href="{_stylesheet_href(path)}" type="text/css"/>'
            inside = inside.replace("<itemBody>", f"{sheet}<itemBody>", 1)
        # The first tags of two items differ by their names alone.
        begin = self._root(f"{start}{attributes[: names.start()]}{_NO_NAMES}{attributes[names.end() :]}/>")
        return f"{begin.replace(_NO_NAMES, names[0], 1)}{inside}</assessmentItem>"

    def _root(self, tag: str) -> str:
        if (known := self._tags.get(tag)) is None:
            frame = _TAG.sub(lambda part: _mended(part[0]), _conversion(tag, None).xml)
            known = self._tags[tag] = f"{frame.removesuffix('/>')}>"
        return known

    def _run(self, run: str) -> str:
        converted = "".join([self._tag(tag) for tag in _TAG.findall(run)])
        # As an XML writer does it; taking a holder away may leave its parent without content.
        while (shorter := _WITHOUT_CONTENT.sub(r"<\1\2/>", converted)) != converted:
            converted = shorter
        if _SHARED_CLASS.search(converted):
            self._styled_runs.add(run)
        self._runs[run] = converted
        return converted

    def _tag(self, tag: str) -> str:
        if (known := self._tags.get(tag)) is None:
            known = self._tags[tag] = _mended(_converted_tag(tag))
        return known


def _converted_tag(tag: str) -> str:
    """Return what the converter makes of a tag, empty for one that it takes away."""
    match = _NAME.match(tag)
    name = "" if match is None else match[1]
    if name in _MATHS and tag.startswith("</"):
        return tag
    if name not in _HTML | _MATHS | _QTI:
        raise _UnknownTag(name)
    is_end, is_whole = tag.startswith("</"), tag.endswith("/>")
    element = f"<{name}/>" if is_end else tag if is_whole else f"{tag[:-1]}/>"
    if name in _MATHS and name != "math":
        element = f'<math xmlns="http://www.w3.org/1998/Math/MathML">{element}</math>'
    result = _conversion(f'<qti-item-body xmlns="{QTI_NAMESPACE}">{element}</qti-item-body>', None)
    if not result.xml.rstrip().endswith(("</itemBody>", "/>")):
        raise _UnknownTag(name)  # it couldn't be read: a sign in it has a meaning of its own
    inside = result.xml.partition("<itemBody")[2].partition(">")[2].removesuffix("</itemBody>")
    if name in _MATHS and name != "math":
        inside = inside.partition(">")[2].removesuffix("</math>")
    if is_end:
        return f"</{inside[1:-2]}>" if inside else ""
    return inside if is_whole or not inside else f"{inside.removesuffix('/>')}>"


def _conversion(text: str, stylesheet: str | None) -> Qti21ConversionResult:
    from qti_convert import convert_qti3_to_qti21

    return convert_qti3_to_qti21(text, shared_vocabulary_stylesheet_href=stylesheet)


def _mended(tag: str) -> str:
    tag = _TEMPLATE.sub(rf'template="{_OLD_TEMPLATES}/\1"', tag)
    if _LEFT_OVER.search(tag) is not None:
        raise ValueError(f"{tag!r} is left of QTI 3")
    return tag


def _converted_manifest(text: str, styled: set[str]) -> str:
    """Return the manifest, whose frame the converter makes: of a resource only its type changes."""
    from qti_convert import add_shared_vocabulary_stylesheet_to_manifest, convert_manifest_to_qti21

    begin, end = "<resources>\n", "</resources>"
    head, _, rest = text.partition(begin)
    rows, _, tail = rest.rpartition(end)
    is_ours = bool(rest and tail) and not _REWRITTEN.search(rows)
    frame = convert_manifest_to_qti21(f"{head}{begin}{end}{tail}" if is_ours else text)
    if styled:
        frame = add_shared_vocabulary_stylesheet_to_manifest(
            frame, MANIFEST, _stylesheet_href(""), () if is_ours else styled
        )
    if not is_ours:
        return frame
    dependency = '<dependency identifierref="QTI3_SHARED_VOCABULARY_CSS"/>'

    def resource(match: re.Match[str]) -> str:
        identifier, kind, href, content = match.groups()
        more = dependency if href in styled else ""
        return (
            f'<resource identifier="{identifier}" type="imsqti_{kind}_xmlv2p1" href="{href}">'
            f"{content}{more}</resource>"
        )

    return frame.replace(begin, begin + _RESOURCE.sub(resource, rows), 1)


FORMAT = QuizFormat("qti21", "QTI 2.1", ".zip", family_losses, _write)
