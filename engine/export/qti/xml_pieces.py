"""Elements of QTI as text: written directly, since a tree of objects would take ten times as long.

What two players do with valid XML decides some of the spelling here: one of them compiles an item as a
template, in which ``{{`` begins an expression and ``]]>`` is cut out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from engine.text.words import xml_characters

__all__ = [
    "QTI_NAMESPACE",
    "attribute_text",
    "element",
    "escaped",
    "identifier_of",
    "list_of",
    "metadata_text",
]

QTI_NAMESPACE = "http://www.imsglobal.org/xsd/imsqtiasi_v3p0"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_ATTRIBUTE_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
)
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_.-]+")


def escaped(text: str) -> str:
    """Return the text of an element; characters that XML can't hold are left out.

    Examples
    --------
    >>> escaped("a < b ]]> {{ c }}")
    'a &lt; b ]]&gt; {<span>{</span> c }}'
    """
    safe = metadata_text(text)
    # An element between the braces keeps them from being an expression, and shows nothing.
    return safe.replace("{{", "{<span>{</span>") if "{{" in safe else safe


def metadata_text(text: str) -> str:
    """Return the text of an element of the manifest, which no player takes for a template."""
    return xml_characters(text).translate(_ESCAPES)


def attribute_text(text: str) -> str:
    """Return the value of an attribute, without its quotes."""
    return xml_characters(text).translate(_ATTRIBUTE_ESCAPES)


def element(name: str, *content: str, **attributes: str | int | float | bool | None) -> str:
    """Return an element.

    Parameters
    ----------
    name : str
    *content : str
        XML: elements, or what :func:`escaped` returns.
    **attributes
        ``_`` stands for ``-``, a last ``_`` for nothing (``class_``); None leaves an attribute out.

    Examples
    --------
    >>> element("qti-value", "A")
    '<qti-value>A</qti-value>'
    >>> element("qti-variable", identifier="SCORE", base_type=None)
    '<qti-variable identifier="SCORE"/>'
    """
    written = "".join([_attribute(key, value) for key, value in attributes.items() if value is not None])
    inner = "".join(content)
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


# Most attributes of a package are the same few thousand, and their texts cost half of the time of writing.
@lru_cache(maxsize=8192, typed=True)
def _attribute(key: str, value: str | int | float | bool) -> str:
    if isinstance(value, bool):
        text = "true" if value else "false"
    else:
        text = attribute_text(value) if isinstance(value, str) else repr(value)
    return f' {key.rstrip("_").replace("_", "-")}="{text}"'


def identifier_of(text: str) -> str:
    """Return a text as an identifier: letters, digits and ``_-.``, with a letter or ``_`` in front.

    Examples
    --------
    >>> identifier_of("2 heads: why?")
    '_2-heads-why-'
    """
    name = _NOT_IN_NAMES.sub("-", text)
    return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"


def list_of(pieces: Iterable[str]) -> str:
    """Return elements one to a line, so that a person can read the file."""
    return "".join([f"{piece}\n" for piece in pieces if piece])
