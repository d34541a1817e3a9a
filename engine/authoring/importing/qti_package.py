"""Reads a QTI 3.0 package: a ZIP archive with a manifest that names the items.

Nothing is unpacked to the disk: the entries that the manifest names are read one by one, each counted while
it is read, because an archive's own list can lie about sizes. A name never decides about a place.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from engine.authoring.importing.foreign_question import (
    MAX_FAULTS,
    MAX_QUESTIONS,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    QuestionFile,
    SkippedQuestion,
    SourceText,
    decode_source,
)
from engine.authoring.importing.qti3 import BOUNDS, ITEM, ItemMetadata, item_question
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement, read_tree
from engine.errors import Diagnostic, ExchangeError
from engine.intake.archive_formats import DAMAGE, ArchiveMember, RefusedError, open_archive
from engine.text.files import read_bytes
from engine.text.words import clean_line

MANIFEST = "imsmanifest.xml"
_MIB = 2**20
_CHUNK = 2**16
# Of a package with every variant of a bank; pictures are entries, too.
_MOST_ENTRIES = 30_000
MAX_PACKAGE = 256 * _MIB
_MAX_ENTRY = 4 * _MIB
_MAX_MANIFEST = 16 * _MIB
_MAX_TOTAL = 128 * _MIB
# A file of text shrinks to a twentieth; bombs shrink to a thousandth.
_RATIO, _RATIO_FROM = 200, _MIB
_ITEM_TYPE = "imsqti_item_xmlv3p0"
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06")
_AS_QTI3 = "export the questions as QTI 3.0, or as Moodle XML"
_MANIFEST_BOUNDS = TreeBounds(
    depth=32,
    inside=_MOST_ENTRIES,
    crowded=f"a package holds at most {MAX_QUESTIONS:,} questions; export fewer at a time",
    deep="a manifest has about ten levels",
)


Watch = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Gives, for a number of questions, a function that is called after each of them."""


def is_package(path: Path) -> bool:
    """Return whether a file begins as a ZIP archive does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(4) in _ZIP_STARTS
    except OSError:
        return False  # whoever reads it says why it can't be read


def read_package(path: Path, watch: Watch = lambda total: nullcontext(lambda: None)) -> QuestionFile:
    """Return the questions of a package, what has no counterpart here, and every fault with its place.

    Parameters
    ----------
    path : Path
    watch : callable, optional
        Shows the progress: the rules of each item are tried out.

    Raises
    ------
    ExchangeError
        It is no archive, damaged or a bomb, has no manifest, or holds another version of QTI.
    """
    where = clean_line(str(path), 300)
    # as every foreign file: bounded, and never waiting for a pipe
    read_bytes(path, MAX_PACKAGE, ExchangeError)
    try:
        with (
            TemporaryDirectory() as spare,
            open_archive(path, Path(spare) / "spare", _MOST_ENTRIES, _MAX_TOTAL) as members,
        ):
            return _Package(where, members).questions(watch)
    except RefusedError as problem:
        raise ExchangeError(
            problem.fault, where=where, got=problem.got, next_step="export the package again"
        ) from None


@dataclass(frozen=True, slots=True)
class _Resource:
    """An item that the manifest names."""

    address: str
    place: FilePlace
    metadata: ItemMetadata


@dataclass
class _Package:
    where: str
    listing: list[ArchiveMember]
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _total: int = 0

    def __post_init__(self) -> None:
        self.members: Mapping[str, ArchiveMember] = {
            member.name: member for member in self.listing if not member.is_folder
        }

    def questions(self, watch: Watch) -> QuestionFile:
        name = self._manifest_name()
        source = self._source(name, _MAX_MANIFEST)
        faults = FileFaults(source)
        root = read_tree(source, faults, _MANIFEST_BOUNDS)
        resources = list(self._resources(root, posixpath.dirname(name), faults)) if root is not None else []
        self.diagnostics += faults.in_order()
        questions: list[ForeignQuestion] = []
        skipped: list[SkippedQuestion] = []
        with watch(len(resources)) as advance:
            for resource in resources:
                made = self._question(resource, source)
                advance()
                if isinstance(made, SkippedQuestion):
                    skipped.append(made)
                elif made is not None:
                    questions.append(made)
        return QuestionFile(tuple(questions), tuple(skipped), tuple(self.diagnostics[:MAX_FAULTS]))

    def _manifest_name(self) -> str:
        names = [name for name in self.members if posixpath.basename(name) == MANIFEST]
        # some tools pack the folder instead of what is in it
        name = min(names, key=lambda n: (n.count("/"), n), default="")
        if not name or name.count("/") > 1:
            message = f"this archive has no {MANIFEST}, so it isn't a QTI package"
            raise ExchangeError(message, where=self.where, expected="a QTI 3.0 package", next_step=_AS_QTI3)
        return name

    def _source(self, name: str, most: int) -> SourceText:
        data = self._content(self.members[name], most)
        return decode_source(data, f"{self.where}/{clean_line(name, 200)}")

    def _content(self, member: ArchiveMember, most: int) -> bytes:
        """Return an entry, counted while it is read.

        Raises
        ------
        ExchangeError
            It is damaged, or larger than it may be.
        """
        where = f"{self.where}/{clean_line(member.name, 200)}"
        if member.fault is not None:
            raise ExchangeError(
                f"this entry {member.fault}", where=where, next_step="export the package again"
            )
        pieces: list[bytes] = []
        size = 0
        try:
            with member.open() as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    self._total += len(chunk)
                    self._check_size(size, member.packed, most, where)
                    pieces.append(chunk)
        except (*DAMAGE, OSError) as problem:
            if isinstance(problem, ExchangeError):
                raise
            raise ExchangeError(
                "this entry is damaged",
                where=where,
                got=clean_line(str(problem), 100) or None,
                next_step="export the package again",
            ) from None
        return b"".join(pieces)

    def _check_size(self, size: int, packed: int, most: int, where: str) -> None:
        fault = ""
        if size > most:
            fault = f"this entry is larger than {most // _MIB} MiB"
        elif size > max(_RATIO_FROM, _RATIO * packed):
            fault = f"this entry unpacks to more than {_RATIO} times its size, as bombs do"
        elif self._total > _MAX_TOTAL:
            fault = f"the items are larger than {_MAX_TOTAL // _MIB} MiB together"
        if fault:
            raise ExchangeError(fault, where=where, next_step="export fewer questions at a time")

    def _resources(self, root: XmlElement, folder: str, faults: FileFaults) -> Iterator[_Resource]:
        """Yield the items that the manifest names; an archive of another version is refused."""
        if root.tag.rpartition(":")[2] != "manifest":
            faults.add(
                root.place, f"a manifest begins with <manifest>, not with <{clean_line(root.tag, 40)}>"
            )
            return
        resources = [e for e in root.inside() if e.tag.rpartition(":")[2] == "resource"]
        types = [resource.attributes.get("type", "") for resource in resources]
        # a package may hold items of both versions: those of ours are read
        if _ITEM_TYPE not in types:
            self._refuse_version(types)
        for resource, kind in zip(resources, types, strict=True):
            if kind != _ITEM_TYPE:
                continue
            address = self._address(resource, folder, faults)
            if address:
                yield _Resource(address, resource.place, _metadata(resource))

    def _refuse_version(self, types: list[str]) -> None:
        other = next((kind for kind in types if "qti" in kind.lower()), "")
        if "imsqti_item_xmlv2" in other or "imsqti_test_xmlv2" in other:
            message = "this is a package of QTI 2, and QTI 3.0 is read here"
        elif other.startswith("imsqti_xmlv1"):
            message = "this is a package of QTI 1.2, and QTI 3.0 is read here"
        else:
            message = "the manifest names no QTI 3.0 item"
        where = f"{self.where}/{MANIFEST}"
        got = clean_line(other, 60) or None
        raise ExchangeError(message, where=where, expected=_ITEM_TYPE, got=got, next_step=_AS_QTI3)

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
        if name not in self.members:
            faults.add(resource.place, f"the package holds no file '{quoted}'")
            return ""
        return name

    def _question(
        self, resource: _Resource, manifest: SourceText
    ) -> ForeignQuestion | SkippedQuestion | None:
        try:
            source = self._source(resource.address, _MAX_ENTRY)
        except ExchangeError as problem:
            if problem.where is not None and not problem.diagnostics:
                message = f"{resource.address}: {problem.what}"
                self.diagnostics.append(manifest.fault(resource.place, clean_line(message, 300)))
                return None
            raise
        faults = FileFaults(source)
        root = read_tree(source, faults, BOUNDS)
        made: ForeignQuestion | SkippedQuestion | None = None
        if root is not None and not len(faults):
            if root.tag.rpartition(":")[2] == ITEM:
                made = item_question(root, resource.metadata, faults, resource.address)
            else:
                tag = clean_line(root.tag, 40)
                faults.add(root.place, f"a QTI 3 item begins with <{ITEM}>, not with <{tag}>")
        self.diagnostics += faults.in_order()
        return made


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
