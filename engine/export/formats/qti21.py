"""QTI 2.1, converted from our QTI 3.0: many platforms read nothing newer.

The converter is that of the group which also makes one of the players; what it leaves is mended here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from engine.errors import UsageError
from engine.export.exported_item import ExportedQuiz
from engine.export.file_pieces import packed
from engine.export.formats import QuizFormat
from engine.export.qti.package_files import family_losses, package_files

__all__ = ["FORMAT", "qti21_files"]

# What no file of a QTI 2.1 package may hold: an element of QTI 3, or one of its addresses.
_LEFT_OVER = re.compile(r"</?qti-[a-z]|/qti/v3p0|imsqtiasi_v3p0")
# The converter knows the addresses of response processing by one spelling only.
_TEMPLATE = re.compile(r'template="https?://[^"]*?v3p0/rptemplates/([a-z_]+)(?:\.xml)?"')
_OLD_TEMPLATES = "http://www.imsglobal.org/question/qti_v2p1/rptemplates"


def _write(quiz: ExportedQuiz, step: Callable[[], None]) -> bytes:
    return packed(qti21_files(package_files(quiz, step)))


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
        from qti_convert import downgrade_package_files
    except ImportError as error:
        raise UsageError(
            "QTI 2.1 needs a converter that isn't installed",
            expected="the package citolab-qti-convert",
            next_step='pip install "softmark[exchange]"',
        ) from error
    converted = downgrade_package_files(dict(files)).files
    return {path: _mended(path, content) for path, content in converted.items()}


def _mended(path: str, content: str | bytes) -> str | bytes:
    if not path.endswith(".xml"):
        return content
    text = content if isinstance(content, str) else content.decode()
    text = _TEMPLATE.sub(rf'template="{_OLD_TEMPLATES}/\1"', text)
    left = _LEFT_OVER.search(text)
    if left is not None:
        raise ValueError(f"{path}: {text[max(0, left.start() - 40) : left.end() + 40]!r} is left of QTI 3")
    return text


FORMAT = QuizFormat("qti21", "QTI 2.1", ".zip", family_losses, _write)
