"""Reads OLX: a course of Open edX (an archive or its folder) with all its problems, or the file of one.

A course's files only name one another; what they name is looked up among the files that are there.
"""

from __future__ import annotations

import posixpath
from contextlib import nullcontext
from dataclasses import dataclass, field

from engine.authoring.importing.foreign_question import (
    MAX_FAULTS,
    MAX_QUESTIONS,
    FileFaults,
    FilePlace,
    ForeignQuestion,
    QuestionFile,
    SkippedQuestion,
    SourceText,
)
from engine.authoring.importing.olx_problem import problem_question
from engine.authoring.importing.package_entries import MIB, PackageEntries, Watch
from engine.authoring.importing.xml_tree import TreeBounds, XmlElement, read_tree
from engine.errors import Diagnostic, ExchangeError
from engine.text.words import clean_line

COURSE_FILES = ("course.xml", "library.xml")
"""What a course begins with, or a library of problems."""
PROBLEM = "problem"
_MAX_FILE = 4 * MIB
BOUNDS = TreeBounds(
    depth=64,
    elements=100_000,
    in_root=5_000,
    crowded="a problem holds at most 5,000 elements side by side",
    deep="nothing that people read is nested so deep",
)
_HOLDERS = {
    "course", "chapter", "sequential", "vertical", "wrapper", "library", "library_content", "itembank",
    "problemset", "randomize", "conditional", "split_test", "legacy_library_content",
}  # fmt: skip
# Blocks that ask nothing: nobody misses them among questions.
_SILENT = {
    "html", "video", "discussion", "about", "wiki", "static", "policy", "tab", "info", "course_info",
    "textbook", "pdf", "videoalpha", "sequence",
}  # fmt: skip
_TITLED = {"chapter", "sequential"}
_DEEPEST = 40  # a problem in a bank in a unit in a subsection in a section has five files, and five levels
_MARKABLE = "ask for something that can be marked by itself, such as a choice or a number"


def read_olx(source: SourceText) -> QuestionFile:
    """Return the question of a problem's file, or those that a part of a course holds itself."""
    faults = FileFaults(source)
    root = read_tree(source, faults, BOUNDS)
    questions: list[ForeignQuestion] = []
    skipped: list[SkippedQuestion] = []
    if root is not None and not len(faults):
        problems = [e for e in [root, *root.inside()] if e.tag == PROBLEM and (e.children or e.text.strip())]
        if not problems:
            message = "it holds no problem, and only names some; import the whole course or its folder"
            faults.add(root.place, message)
        for problem in problems:
            made = problem_question(problem, faults)
            if isinstance(made, SkippedQuestion):
                skipped.append(made)
            elif made is not None:
                questions.append(made)
    return QuestionFile(tuple(questions), tuple(skipped), faults.in_order())


def read_course(
    entries: PackageEntries, watch: Watch = lambda total: nullcontext(lambda: None)
) -> QuestionFile:
    """Return the questions of a course, what has no counterpart here, and every fault with its place.

    Parameters
    ----------
    entries : PackageEntries
    watch : callable, optional
        Shows the progress.

    Raises
    ------
    ExchangeError
        It is damaged or a bomb, or has no course.xml.
    """
    first = next(filter(None, map(entries.nearest, COURSE_FILES)), "")
    if not first:
        message = f"there is no {COURSE_FILES[0]}, so this isn't a course of Open edX"
        step = "in Studio choose Tools, then Export course"
        raise ExchangeError(
            message, where=entries.where, expected="a course's archive or folder", next_step=step
        )
    course = _Course(entries, posixpath.dirname(first))
    course.open(first)
    with watch(len(course.problems)) as advance:
        for problem in course.problems:
            course.read(problem)
            advance()
    return QuestionFile(tuple(course.made), tuple(course.skipped), tuple(course.diagnostics[:MAX_FAULTS]))


@dataclass(frozen=True, slots=True)
class _ProblemPlace:
    """A problem of a course: its file, or the element where a file holds it itself."""

    address: str
    element: XmlElement | None
    source: SourceText
    place: FilePlace
    titles: tuple[str, ...]


@dataclass
class _Course:
    entries: PackageEntries
    folder: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    problems: list[_ProblemPlace] = field(default_factory=list)
    made: list[ForeignQuestion] = field(default_factory=list)
    skipped: list[SkippedQuestion] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    def open(self, address: str) -> None:
        """Collect the problems that the course's first file holds or names."""
        self._seen.add(address)
        tree = self._tree(address, None)
        if tree is not None:
            self._walk(tree[0], tree[1], address, (), 0)

    def _tree(
        self, address: str, named: tuple[SourceText, FilePlace] | None
    ) -> tuple[XmlElement, SourceText] | None:
        try:
            source = self.entries.source(address, _MAX_FILE)
        except ExchangeError as problem:
            if named is None or problem.where is None or problem.diagnostics:
                raise
            message = clean_line(f"{address}: {problem.what}", 300)
            self.diagnostics.append(named[0].fault(named[1], message))
            return None
        faults = FileFaults(source)
        root = self.entries.tree(source, faults, BOUNDS)
        self.diagnostics += faults.in_order()
        return (root, source) if root is not None and not len(faults) else None

    def _walk(
        self, element: XmlElement, source: SourceText, address: str, titles: tuple[str, ...], depth: int
    ) -> None:
        # each level of a file and each file that it names are levels: both go into the same stack
        if depth > _DEEPEST:
            message = f"a course is nested more than {_DEEPEST} deep"
            self.diagnostics.append(source.fault(element.place, message))
            return
        tag = element.tag
        name = element.attributes.get("url_name", "")
        if name and not element.children and not element.text.strip() and tag in (*_HOLDERS, PROBLEM):
            self._follow(element, source, titles, depth)
        elif tag == PROBLEM:
            self._add(_ProblemPlace(address, element, source, element.place, titles))
        elif tag in _HOLDERS:
            title = clean_line(element.attributes.get("display_name", ""), 200)
            inner = (*titles, title) if tag in _TITLED and title else titles
            for child in element.children:
                self._walk(child, source, address, inner, depth + 1)
        elif tag not in _SILENT and depth:
            self._skip(element, address)

    def _follow(self, element: XmlElement, source: SourceText, titles: tuple[str, ...], depth: int) -> None:
        """Go on in the file that a pointer names; a colon in a name is a folder."""
        name = element.attributes["url_name"].replace(":", "/")
        # the address only looks up a file of the package: it never becomes a path of this machine
        file = posixpath.normpath(posixpath.join(self.folder, element.tag, f"{name}.xml"))
        if file not in self.entries.members:
            quoted = clean_line(f"{element.tag}/{name}.xml", 100)
            self.diagnostics.append(source.fault(element.place, f"the course holds no file '{quoted}'"))
        elif element.tag == PROBLEM:
            # a problem that several units show is one problem; a course that names itself would never end
            if file not in self._seen:
                self._seen.add(file)
                self._add(_ProblemPlace(file, None, source, element.place, titles))
        elif file not in self._seen:
            self._seen.add(file)
            tree = self._tree(file, (source, element.place))
            if tree is not None:
                self._walk(tree[0], tree[1], file, titles, depth + 1)

    def _add(self, problem: _ProblemPlace) -> None:
        if len(self.problems) == MAX_QUESTIONS:
            message = f"a course holds at most {MAX_QUESTIONS:,} problems; import it in parts"
            self.diagnostics.append(problem.source.fault(problem.place, message))
        if len(self.problems) <= MAX_QUESTIONS:
            self.problems.append(problem)

    def _skip(self, element: XmlElement, address: str) -> None:
        tag = clean_line(element.tag, 40)
        place = FilePlace(element.place.line, element.place.column, address)
        name = clean_line(element.attributes.get("display_name", ""), 120)
        reason = f"the block <{tag}> isn't a problem"
        if len(self.skipped) < MAX_QUESTIONS:
            self.skipped.append(SkippedQuestion(name, tag, place, reason, _MARKABLE))

    def read(self, problem: _ProblemPlace) -> None:
        """Read one problem."""
        element, source = problem.element, problem.source
        if element is None:
            tree = self._tree(problem.address, (problem.source, problem.place))
            if tree is None:
                return
            element, source = tree
        faults = FileFaults(source)
        if element.tag != PROBLEM:
            faults.add(
                element.place, f"a problem begins with <problem>, not with <{clean_line(element.tag, 40)}>"
            )
            made = None
        else:
            made = problem_question(element, faults, problem.address, problem.titles)
        if isinstance(made, SkippedQuestion):
            self.skipped.append(made)
        elif made is not None:
            self.made.append(made)
        self.diagnostics += faults.in_order()
