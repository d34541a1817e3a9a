"""Reads a QTI package: files with a manifest that names the items, or the quizzes of Canvas.

What lies in the files is read by :mod:`~engine.authoring.importing.qti3` and
:mod:`~engine.authoring.importing.canvas_qti`; this module finds them, and never believes an address.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from urllib.parse import unquote

from engine.authoring.importing.canvas_qti import BOUNDS as QUIZ_BOUNDS
from engine.authoring.importing.canvas_qti import ROOT, CanvasQuiz, count_items
from engine.authoring.importing.foreign_question import (
    MAX_BYTES,
    MAX_FAULTS,
    MAX_QUESTIONS,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    QuestionFile,
    SkippedQuestion,
    SourceText,
)
from engine.authoring.importing.package_entries import MIB, MOST_ENTRIES, PackageEntries, Watch
from engine.authoring.importing.qti3 import BOUNDS, ItemMetadata, is_item, item_question
from engine.authoring.importing.qti_marking import TrialBudget
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement
from engine.errors import Diagnostic, ExchangeError
from engine.text.words import clean_line

MANIFEST = "imsmanifest.xml"
_MAX_ENTRY = 4 * MIB
_MAX_MANIFEST = 16 * MIB
# items by the version of QTI, and quizzes of QTI 1.2, of which Canvas's banks have a type of any file
_KINDS = (
    ("qti3", re.compile("imsqti_item_xmlv3p[0-9]")),
    ("qti21", re.compile("imsqti_item_xmlv2p[0-9].*")),
    ("canvas", re.compile("imsqti_xmlv1p2.*")),
)
_BANK = ".xml.qti"
_AS_OTHER = "export the questions as a QTI package, or as Moodle XML"
_MANIFEST_BOUNDS = TreeBounds(
    depth=32,
    inside=MOST_ENTRIES,
    crowded=f"a package holds at most {MAX_QUESTIONS:,} questions; export fewer at a time",
    deep="a manifest has about ten levels",
)


def read_package(
    entries: PackageEntries, watch: Watch = lambda total: nullcontext(lambda: None)
) -> tuple[str, QuestionFile]:
    """Return the format of a package, and its questions, what has no counterpart here, and every fault.

    Parameters
    ----------
    entries : PackageEntries
    watch : callable, optional
        Shows the progress: the rules of each item are tried out.

    Raises
    ------
    ExchangeError
        It is damaged or a bomb, has no manifest, or names nothing that is read here.
    """
    package = _Package(entries)
    contents = package.questions(watch)
    return package.format, contents


@dataclass(frozen=True, slots=True)
class _Resource:
    """A file that the manifest names: what it holds, and what is said of it."""

    kind: str
    address: str
    place: FilePlace
    metadata: ItemMetadata


@dataclass
class _Package:
    entries: PackageEntries
    diagnostics: list[Diagnostic] = field(default_factory=list)
    format: str = "qti3"
    made: list[ForeignQuestion] = field(default_factory=list)
    skipped: list[SkippedQuestion] = field(default_factory=list)
    # one for the whole package: each item alone may take seconds
    budget: TrialBudget = field(default_factory=TrialBudget)

    def questions(self, watch: Watch) -> QuestionFile:
        name = self.entries.nearest(MANIFEST)
        if not name:
            message = f"neither {MANIFEST} nor course.xml is here"
            expected = "a QTI package, or a course of Open edX"
            raise ExchangeError(message, where=self.entries.where, expected=expected, next_step=_AS_OTHER)
        source = self.entries.source(name, _MAX_MANIFEST)
        faults = FileFaults(source)
        root = self.entries.tree(source, faults, _MANIFEST_BOUNDS)
        resources = list(self._resources(root, posixpath.dirname(name), faults)) if root is not None else []
        self.diagnostics += faults.in_order()
        if resources:
            # a package may hold several versions: it is named after the newest
            self.format = min(
                (resource.kind for resource in resources), key=[kind for kind, _ in _KINDS].index
            )
        items = [resource for resource in resources if resource.kind != "canvas"]
        with watch(len(items)) if items else nullcontext(lambda: None) as advance:
            for resource in items:
                self._read_item(resource, source)
                advance()
        for resource in resources:
            if resource.kind == "canvas":
                self._read_quiz(resource, source, watch)
        return QuestionFile(tuple(self.made), tuple(self.skipped), tuple(self.diagnostics[:MAX_FAULTS]))

    def _resources(self, root: XmlElement, folder: str, faults: FileFaults) -> Iterator[_Resource]:
        """Yield the files that the manifest names; a package with none that is read here is refused."""
        if root.tag.rpartition(":")[2] != "manifest":
            faults.add(
                root.place, f"a manifest begins with <manifest>, not with <{clean_line(root.tag, 40)}>"
            )
            return
        resources = [e for e in root.inside() if e.tag.rpartition(":")[2] == "resource"]
        kinds = [_kind_of(resource) for resource in resources]
        if not any(kinds):
            self._refuse_version([resource.attributes.get("type", "") for resource in resources])
        # some tools list the same file twice, once as a dependency
        seen: set[str] = set()
        for resource, kind in zip(resources, kinds, strict=True):
            address = self._address(resource, folder, faults) if kind else ""
            if address and address not in seen:
                seen.add(address)
                yield _Resource(kind, address, resource.place, _metadata(resource))

    def _refuse_version(self, types: list[str]) -> None:
        got = next((kind for kind in types if "qti" in kind.lower()), "")
        message = "the manifest names no item of QTI 3.0 or 2, and no quiz of QTI 1.2"
        where = f"{self.entries.where}/{MANIFEST}"
        expected = "a resource of type imsqti_item_xmlv3p0, for example"
        raise ExchangeError(
            message, where=where, expected=expected, got=clean_line(got, 60) or None, next_step=_AS_OTHER
        )

    def _address(self, resource: XmlElement, folder: str, faults: FileFaults) -> str:
        href = resource.attributes.get("href", "")
        if not href:
            inner = next((e for e in resource.inside() if e.tag.rpartition(":")[2] == "file"), None)
            href = inner.attributes.get("href", "") if inner is not None else ""
        quoted = clean_line(href, 100)
        if not href:
            faults.add(resource.place, "this item has no file: 'href' is missing")
            return ""
        # addresses of other machines and of Windows; what is left is normalised before it is used
        if "\\" in href or ":" in href or href.startswith("/"):
            faults.add(resource.place, f"'{quoted}' isn't an address within the package")
            return ""
        name = posixpath.normpath(posixpath.join(folder, unquote(href)))
        if name.startswith(".."):
            faults.add(resource.place, f"'{quoted}' lies outside the package")
            return ""
        if name not in self.entries.members:
            faults.add(resource.place, f"the package holds no file '{quoted}'")
            return ""
        return name

    def _source(self, resource: _Resource, most: int, manifest: SourceText) -> SourceText | None:
        """Return a file, None where it is damaged or too large: that is a fault of the manifest's line."""
        try:
            return self.entries.source(resource.address, most)
        except ExchangeError as problem:
            if problem.where is None or problem.diagnostics:
                raise
            message = f"{resource.address}: {problem.what}"
            self.diagnostics.append(manifest.fault(resource.place, clean_line(message, 300)))
            return None

    def _read_item(self, resource: _Resource, manifest: SourceText) -> None:
        source = self._source(resource, _MAX_ENTRY, manifest)
        if source is None:
            return
        faults = FileFaults(source)
        root = self.entries.tree(source, faults, BOUNDS)
        if root is not None and not len(faults) and is_item(root, faults):
            made = item_question(root, resource.metadata, faults, resource.address, self.budget)
            if isinstance(made, SkippedQuestion):
                self.skipped.append(made)
            elif made is not None:
                self.made.append(made)
        self.diagnostics += faults.in_order()

    def _read_quiz(self, resource: _Resource, manifest: SourceText, watch: Watch) -> None:
        source = self._source(resource, MAX_BYTES, manifest)
        if source is None:
            return
        faults = FileFaults(source)
        root = self.entries.tree(source, faults, QUIZ_BOUNDS)
        if root is not None and root.tag.rpartition(":")[2] != ROOT:
            faults.add(root.place, f"QTI 1.2 begins with <{ROOT}>, not with <{clean_line(root.tag, 40)}>")
        elif root is not None:
            with watch(count_items(root)) as advance:
                quiz = CanvasQuiz(faults, self.budget, resource.address, advance)
                quiz.read(root)
            self.made += quiz.questions
            self.skipped += quiz.skipped
        self.diagnostics += faults.in_order()


def _kind_of(resource: XmlElement) -> str:
    """Return the format of what a resource is, empty for what isn't read."""
    stated = resource.attributes.get("type", "")
    kind = next((name for name, types in _KINDS if types.fullmatch(stated)), "")
    # a course that Canvas exports keeps its question banks outside of Common Cartridge
    return kind or ("canvas" if resource.attributes.get("href", "").endswith(_BANK) else "")


def _metadata(resource: XmlElement) -> ItemMetadata:
    """Return the keywords and topics of a resource's metadata."""
    keywords: list[str] = []
    topics: list[str] = []
    for element in resource.inside():
        name = element.tag.rpartition(":")[2]
        if name not in ("keyword", "entry"):
            continue
        words = " ".join("".join(e.text for e in [element, *element.inside()]).split())[:200]
        if words:
            (keywords if name == "keyword" else topics).append(words)
    is_own = any(word.startswith("difficulty-") for word in keywords)
    # the keywords of our own export hold its topics already, in their order
    return ItemMetadata(
        tuple(keywords[:50]), "" if is_own else "/".join(t.replace("/", "//") for t in topics[:10])
    )
