"""The content model of MathML Core, as far as our formulas use it.

Written from the W3C's MathML Core: which elements there are, how many children each takes, which hold only
text, and which attributes are known.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

__all__ = ["NAMESPACE", "faults_of_maths"]

NAMESPACE = "http://www.w3.org/1998/Math/MathML"

TOKENS = {"mi", "mn", "mo", "mtext"}
# a number of children; None: any number, taken as one row
CHILDREN: dict[str, int | None] = {
    "math": None, "mrow": None, "msqrt": None, "mstyle": None, "mphantom": None, "mtd": None, "mpadded": None,
    "mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2, "munderover": 3,
    "mtable": None, "mtr": None, "mspace": 0,
}  # fmt: skip
INSIDE = {"mtable": {"mtr"}, "mtr": {"mtd"}}
GLOBAL = {"displaystyle", "scriptlevel", "mathvariant", "dir", "class", "id"}
ATTRIBUTES = {
    "math": {"display", "alttext", "{http://www.w3.org/2000/xmlns/}xmlns"},
    "mo": {"stretchy", "fence", "separator", "form", "lspace", "rspace", "movablelimits"},
    "mspace": {"width", "height", "depth"},
    "mover": {"accent"}, "munder": {"accentunder"}, "munderover": {"accent", "accentunder"},
    "mfrac": {"linethickness"}, "mtd": {"columnspan", "rowspan"},
    "mtable": {"columnalign"}, "mpadded": {"width", "height", "depth", "lspace", "voffset"},
}  # fmt: skip


def faults_of_maths(element: Element) -> Iterator[str]:
    """Yield what is wrong with a ``math`` element and everything below it."""
    name = _name(element)
    if name is None:
        yield f"{element.tag} stands in a formula"
        return
    if name not in TOKENS and name not in CHILDREN:
        yield f"<{name}> is no element of MathML Core"
        return
    known = GLOBAL | ATTRIBUTES.get(name, set())
    yield from (f"<{name}> has no attribute {key}" for key in element.attrib if key not in known)
    if name in TOKENS:
        if len(element):
            yield f"<{name}> holds elements"
        if not (element.text or "").strip("\n\t "):
            yield f"<{name}> is empty"
        return
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        yield f"<{name}> holds text outside a token"
    wanted = CHILDREN[name]
    if wanted is not None and len(element) != wanted:
        yield f"<{name}> has {len(element)} children, not {wanted}"
    for child in element:
        if name in INSIDE and _name(child) not in INSIDE[name]:
            yield f"<{name}> holds {child.tag}"
        yield from faults_of_maths(child)


def _name(element: Element) -> str | None:
    space, _, name = element.tag.rpartition("}")
    return name if space == "{" + NAMESPACE else None
