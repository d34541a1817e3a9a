"""Gather the files to compare, from the store and from folders of other years."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from engine.course import Roster, StudentLabels
from engine.errors import InputError
from engine.hand_ins import FileKind, IntakeProblem
from engine.intake import collect, read_code_file
from engine.model import Mode
from engine.similarity.answers import AnswerComparison, AnswerSearch
from engine.store import Store
from engine.text.files import work_folder
from engine.text.words import clean_line


@dataclass(frozen=True, slots=True)
class ComparedFile:
    """One file that somebody handed in.

    Parameters
    ----------
    who : str
        Id of the student.
    source : str
        Python source, the files that it imports at its end.
    filename : str
        Name as handed in: foreign text.
    is_earlier : bool
        Whether it comes from another year: two of those are never compared with each other.
    """

    who: str
    source: str
    filename: str = ""
    is_earlier: bool = False

    @property
    def person(self) -> tuple[bool, str]:
        """Who it is; the same id in another year may be another person."""
        return self.is_earlier, self.who


@dataclass(frozen=True, slots=True)
class FilePair:
    """Two students' files for one item.

    Parameters
    ----------
    first, second : ComparedFile
    shared : int
        Fingerprints in common.
    share_first, share_second : float
        What part of each file's fingerprints the other one has, 0 to 1, without the starter's and usual ones.
    surprise : float
        How rare what they share is in the class: the sum of ``-log2`` of each shared fingerprint's frequency
        among the others, times the larger rarity-weighted share. No probability.
    wording : float
        The same of own names, comments and texts.
    """

    first: ComparedFile
    second: ComparedFile
    shared: int
    share_first: float
    share_second: float
    surprise: float
    wording: float = 0.0

    @property
    def share(self) -> float:
        """The larger share."""
        return max(self.share_first, self.share_second)


@dataclass(frozen=True, slots=True)
class SimilaritySpread:
    """How alike pairs are: shares (the larger direction), 0 to 1, that half, 95 % and all don't exceed."""

    pairs: int
    half: float
    most: float
    highest: float


@dataclass(frozen=True, slots=True)
class ItemComparison:
    """What comparing all files of one item found.

    Parameters
    ----------
    item : str
    files, students : int
        With those of earlier years.
    pairs : tuple of FilePair
        The most surprising first; one for two students.
    by_wording : tuple of FilePair
        Those that share the rarest names, comments and texts, the rarest first.
    groups : tuple of tuple of ComparedFile
        Three or more who are linked by close pairs, the largest group first.
    usual : frozenset
        Fingerprints that don't count: of the starter, and of more than half of the class.
    spread : SimilaritySpread
        Of the class itself.
    identical : tuple of tuple of ComparedFile
        Two or more students' files that are the same except for blanks at line ends, the largest group first.
    """

    item: str
    files: int
    students: int
    pairs: tuple[FilePair, ...]
    by_wording: tuple[FilePair, ...]
    groups: tuple[tuple[ComparedFile, ...], ...]
    usual: frozenset[Hashable]
    spread: SimilaritySpread
    identical: tuple[tuple[ComparedFile, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class CollectedFiles:
    """Files by item, and what can't be compared.

    Parameters
    ----------
    works : dict of str to list of ComparedFile
    problems : list of IntakeProblem
    """

    works: dict[str, list[ComparedFile]] = field(default_factory=dict)
    problems: list[IntakeProblem] = field(default_factory=list)
    _seen: set[tuple[str, bool, str, str]] = field(default_factory=set)

    def add(self, item: str, work: ComparedFile) -> None:
        """Add a file, unless the same one of the same student is there already."""
        key = (item, *work.person, work.source)
        if key not in self._seen:
            self._seen.add(key)
            self.works.setdefault(item, []).append(work)

    def add_earlier(self, earlier: CollectedFiles) -> None:
        """Add another year's files at the items that there are."""
        self.problems.extend(earlier.problems)
        for item in self.works:
            for work in earlier.works.get(item, ()):
                self.add(item, work)


def of_store(store: Store, mode: Mode, item: str | None = None) -> tuple[CollectedFiles, AnswerComparison]:
    """Return the code of a store and what its answers show; of everything, or of one item."""
    files, search = CollectedFiles(), AnswerSearch()
    for attempt in store.attempts(item=item, mode=mode):
        if attempt.source is not None:
            source = _whole(attempt.source, attempt.modules)
            files.add(attempt.item, ComparedFile(attempt.student, source, attempt.filename))
        else:
            search.add(attempt)
    for name in store.quiz_names():
        for quiz in store.quizzes(name):
            for question in quiz.questions:
                if item is None or question.variant.item == item:
                    search.hand_out(quiz.student, question.variant)
    return files, search.comparison()


def of_folder(
    path: Path,
    *,
    items: Collection[str],
    roster: Roster | None = None,
    only_item: str | None = None,
    is_earlier: bool = False,
) -> CollectedFiles:
    """Return the code that a class handed in, read as ``grade batch`` reads it.

    Parameters
    ----------
    path : Path
        A folder or an archive.
    items : collection of str
        Ids that files may be called after.
    roster : Roster, optional
    only_item : str, optional
        All code is for this item: files may be called after their students.
    is_earlier : bool
        Whether it is another year's.

    Raises
    ------
    IntakeError
        `path` can't be read at all.
    """
    files = CollectedFiles()
    with work_folder() as workdir:
        intake = collect(path, workdir, items=items, roster=roster, only_item=only_item)
        files.problems.extend(intake.problems)
        for student in intake.students:
            for file in student.files:
                if file.kind is not FileKind.CODE or file.item is None:
                    continue
                try:
                    code = read_code_file(file.path, file.name, dict(file.beside), exercise=file.item)
                except InputError as error:
                    problem = IntakeProblem(file.name, error.what, error.next_step or "", student.student)
                    files.problems.append(problem)
                    continue
                source = _whole(code.source, code.modules)
                files.add(file.item, ComparedFile(student.student, source, file.name, is_earlier))
    return files


def _whole(source: str, modules: Mapping[str, str]) -> str:
    return source + "".join(
        f"\n# --- {clean_line(name, 60)}.py ---\n{text}" for name, text in modules.items()
    )


# What students are called on a page: by name, or hidden behind numbers.


class FileLabels(StudentLabels):
    """Labels of students, some of them of another year, and of their files."""

    def of(self, work: ComparedFile) -> str:
        """Return the label of whoever handed in a file."""
        return self.student(work.who, is_earlier=work.is_earlier)

    def student(self, who: str, *, is_earlier: bool = False) -> str:
        """Return the label of a student; one of another year is marked so."""
        later = " (earlier)" if is_earlier else ""
        if self.is_hidden:
            return f"{self.number((is_earlier, who))}{later}"
        name = "" if is_earlier else self.name(who)
        label = clean_line(who)
        return f"{name} ({label}){later}" if name and name != label else f"{label}{later}"

    def filename(self, work: ComparedFile) -> str:
        """Return the name of a file; it often holds its student's, so it is hidden with that."""
        return "" if self.is_hidden else clean_line(work.filename)
