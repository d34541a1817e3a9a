"""What a student hands in on the site for one exercise: a file, several, a folder, an archive, or typed text.

What is taken is what ``grade submit`` takes, with the same hash: a file alone is the submission; of several
the one that defines the function is, with the files of its folder that it imports.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from engine.errors import IntakeError, SubmissionError
from engine.hand_ins import IntakeProblem
from engine.intake.code_files import defining_file, files_used, read_code_file, source_of
from engine.intake.download_entries import (
    FileEntry,
    FoundEntries,
    archive_suffix,
    is_junk,
    is_wanted,
    name_fault,
    name_parts,
    packed_otherwise,
    plain_name,
)
from engine.intake.unpack import ArchiveLimits, read_source
from engine.model import CodeSubmission
from engine.text.words import clean_line, count_noun

_CODE: Final = (".py", ".ipynb")
_MOST_CODE_FILES: Final = 200
# Of all files that have to be parsed to find the one that counts: it takes the server's own time.
_MOST_CODE_BYTES: Final = 2**20
_MIB: Final = 2**20
# One student's hand-in for one exercise, not the download of a class.
_PACK: Final = "pack only the files that count, as .zip, and hand that in"
_LIMITS: Final = ArchiveLimits(
    entries=2_000, download_entries=2_000, owner_entries=2_000, inside=1_000, total=64 * _MIB
)


def read_upload(files: Sequence[tuple[str, Path]], function: str, work: Path) -> CodeSubmission:
    """Return the submission that some uploaded files are.

    Parameters
    ----------
    files : sequence of (str, Path)
        Names as the browser said them, with folders where a folder was chosen (foreign text), and where
        the bytes are.
    function : str
        What the exercise asks for.
    work : Path
        Existing folder for what is unpacked.

    Raises
    ------
    InputError
        It holds no code, or too much, no file or several define the function, an archive is damaged or a
        bomb, and all that :func:`engine.intake.read_code_file` raises.
    """
    if not files:
        raise SubmissionError(
            "nothing was chosen", expected="a .py or .ipynb file, a folder of files, or a .zip archive"
        )
    if len(files) == 1 and Path(files[0][0]).suffix.lower() in _CODE:
        name, path = files[0]
        return read_code_file(path, name_parts(plain_name(name))[-1], {}, exercise=function)
    where = clean_line(files[0][0], 60) if len(files) == 1 else count_noun(len(files), "file")
    entries = _code_entries(files, where, work)
    names = {entry.path: entry.name for entry in entries if entry.path is not None}
    main = next(iter(names)) if len(names) == 1 else defining_file(names, function, where)
    parts = next(entry.parts for entry in entries if entry.path == main)
    beside = {
        entry.parts[-1][:-3]: entry.path
        for entry in entries
        if entry.parts[:-1] == parts[:-1] and entry.parts[-1].endswith(".py")
    }
    used = files_used(source_of(main, names[main]), beside.get)
    return read_code_file(main, parts[-1], used, exercise=function)


def read_typed(text: str, name: str, work: Path) -> CodeSubmission:
    """Return the submission that somebody typed or pasted.

    Parameters
    ----------
    text : str
        As a browser sends it.
    name : str
        What the file would be called.
    work : Path
        Existing folder for a file of it.

    Raises
    ------
    SubmissionError
        It is empty, too large, or has characters that no file of Python has.
    """
    path = work / "typed.py"
    # Browsers end lines as Windows does; the same text as a file must be the same submission.
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    path.write_text(plain, encoding="utf-8", errors="surrogatepass", newline="\n")
    return read_code_file(path, name, {})


def _code_entries(files: Sequence[tuple[str, Path]], where: str, work: Path) -> list[FileEntry]:
    entries: list[FileEntry] = []
    problems: list[IntakeProblem] = []
    left, broken = _LIMITS, None
    for number, (name, path) in enumerate(files):
        plain = plain_name(name)
        label = clean_line(plain, 60)
        if fault := name_fault(plain):
            raise SubmissionError(f"this file {fault}", where=label, next_step="rename it")
        if packed_otherwise(plain) and not archive_suffix(plain):
            raise SubmissionError(
                "this kind of archive isn't opened", where=label, expected=".zip, .tar or .tar.gz"
            )
        parts = name_parts(plain)
        if not archive_suffix(plain):
            entries.append(FileEntry(parts, path))
            continue
        folder = work / f"unpacked-{number}"
        folder.mkdir()
        inside = _unpacked(path, label, folder, left)
        left = _minus(left, inside, label)
        entries += [FileEntry((*parts[:-1], *entry.parts), entry.path) for entry in inside.files]
        problems += inside.problems
        # Of files that no exercise needs, nothing has to be right. One fault is enough to unpack no further.
        broken = next((p for p in problems if is_wanted(p.where) or archive_suffix(p.where)), None)
        if broken is not None:
            break
    code = [
        entry
        for entry in entries
        if entry.path is not None
        and Path(entry.parts[-1]).suffix.lower() in _CODE
        and not is_junk(entry.parts)
    ]
    if broken is None and not code and problems:
        broken = problems[0]
    if broken is not None:
        # The step that is known is for somebody with the download of a class: here the student asks.
        raise SubmissionError(broken.message, where=broken.where, next_step=_PACK)
    _check_amount(code, where)
    return code


def _unpacked(path: Path, label: str, folder: Path, limits: ArchiveLimits) -> FoundEntries:
    try:
        return read_source(path, folder, limits)
    except IntakeError as error:  # about the place where we put it
        raise SubmissionError(
            error.what,
            where=label,
            expected=error.expected,
            got=error.got,
            next_step=_PACK,
        ) from error


def _minus(left: ArchiveLimits, inside: FoundEntries, label: str) -> ArchiveLimits:
    """Return what further archives may hold: all of one hand-in have one budget, whatever each of them is."""
    total, entries = left.total - inside.written, left.entries - inside.count
    if min(total, entries) > 0:
        return replace(
            left,
            total=total,
            top_level=total,
            entries=entries,
            download_entries=entries,
            owner_entries=entries,
            inside=min(left.inside, entries),
        )
    files = count_noun(_LIMITS.entries, "file", ",")
    raise SubmissionError(
        "there is too much in what is handed in",
        where=label,
        expected=f"at most {_LIMITS.total // _MIB} MiB unpacked, and {files}",
        next_step=_PACK,
    )


def _check_amount(code: Sequence[FileEntry], where: str) -> None:
    if not code:
        raise SubmissionError(
            "there is no code in it", where=where, expected="a .py or .ipynb file among what is handed in"
        )
    if len(code) > _MOST_CODE_FILES:
        raise SubmissionError(
            "there are too many code files in it",
            where=where,
            expected=f"at most {_MOST_CODE_FILES}",
            got=str(len(code)),
            next_step="hand in the file that defines the function, with those that it imports",
        )
    scripts = [entry.path for entry in code if entry.path and not entry.parts[-1].lower().endswith(".ipynb")]
    size = sum(path.stat().st_size for path in scripts)
    if len(code) > 1 and size > _MOST_CODE_BYTES:
        raise SubmissionError(
            "there is too much code in it",
            where=where,
            expected=f"at most {_MOST_CODE_BYTES // _MIB} MiB",
            got=f"{size / _MIB:.1f} MiB",
            next_step="hand in the file that defines the function, with those that it imports",
        )
