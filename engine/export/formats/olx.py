"""OLX: a course of Open edX, with a bank of problems for each item, of which each student gets one."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from engine.export.exported_item import ExportedFamily, ExportedQuiz, ExportLoss
from engine.export.formats import QuizFormat
from engine.export.open_edx import ProblemWriter, problem_losses
from engine.export.prose_html import xml_value

_ROOT = "course/"
_ORGANISATION, _RUN = "Softmark", "export"
# Tar files say when each of their files was changed: the same moment for all, so that nothing depends on it.
_MOMENT = 946_684_800
_NOT_IN_NAMES = re.compile("[^A-Za-z0-9_-]+")


def losses(family: ExportedFamily) -> Sequence[ExportLoss]:
    """Return what a course of Open edX can't carry of a family."""
    return list(problem_losses(family))


def write(quiz: ExportedQuiz, done: Callable[[], None]) -> bytes:
    """Return the course as a ``.tar.gz``.

    Parameters
    ----------
    quiz : ExportedQuiz
    done : callable
        Called once for each variant.
    """
    writer = ProblemWriter()
    files: dict[str, bytes] = {}

    def add(kind: str, name: str, text: str) -> None:
        files[f"{kind}/{name}.xml"] = text.encode()

    subsections = []
    for number, (title, group) in enumerate(groupby(quiz.families, _subsection_of), start=1):
        units = []
        for family in group:
            problems = []
            for item in family.items:
                add("problem", item.name, writer.problem(item, family.tags))
                problems.append(_pointer("problem", item.name))
                done()
            unit = _identifier(family.item)
            # A bank of one problem would be one more click for the author, and nothing else.
            if len(problems) > 1:
                add("itembank", unit, _holder("itembank", family.title, problems, max_count="1"))
                problems = [_pointer("itembank", unit)]
            add("vertical", unit, _holder("vertical", family.title, problems))
            units.append(_pointer("vertical", unit))
        subsection = f"{_identifier(quiz.name)}-{number}"
        add("sequential", subsection, _holder("sequential", title or quiz.title, units))
        subsections.append(_pointer("sequential", subsection))
    chapter = _identifier(quiz.name)
    add("chapter", chapter, _holder("chapter", quiz.title, subsections))
    add("course", _RUN, _holder("course", quiz.title, [_pointer("chapter", chapter)]))
    files["course.xml"] = (
        f'<course url_name="{_RUN}" org="{_ORGANISATION}" course="{_identifier(quiz.name)}"/>\n'.encode()
    )
    return _archive({**files, **writer.pictures.files})


def _subsection_of(family: ExportedFamily) -> str:
    """Return the title under which a unit stands: the quiz's section, or the widest topic."""
    return family.section or next(iter(family.category), "")


def _pointer(kind: str, name: str) -> str:
    return f'<{kind} url_name="{name}"/>'


def _holder(kind: str, title: str, children: Sequence[str], **attributes: str) -> str:
    written = "".join(f' {name}="{value}"' for name, value in attributes.items())
    inner = "\n".join(f"  {child}" for child in children)
    return f'<{kind} display_name="{xml_value(title)}"{written}>\n{inner}\n</{kind}>\n'


def _identifier(name: str) -> str:
    return _NOT_IN_NAMES.sub("-", name)


def _archive(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        # Folders have entries of their own: without them some unpackers give their owner no right to enter.
        for folder in sorted({_ROOT, *(f"{_ROOT}{path}" for path in _folders(files))}):
            entry = tarfile.TarInfo(folder.rstrip("/"))
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, _MOMENT
            archive.addfile(entry)
        for path in sorted(files):
            entry = tarfile.TarInfo(_ROOT + path)
            entry.size, entry.mtime = len(files[path]), _MOMENT
            archive.addfile(entry, io.BytesIO(files[path]))
    return buffer.getvalue()


def _folders(files: Mapping[str, bytes]) -> Iterator[str]:
    return (path[: path.rindex("/") + 1] for path in files if "/" in path)


FORMAT = QuizFormat("olx", "OLX (Open edX)", ".tar.gz", losses, write)
