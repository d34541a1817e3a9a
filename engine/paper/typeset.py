"""Exams to PDF: each compiled alone, in processes of its own.

A hundred exams in one document take longer than a hundred documents. And the compiler starts threads, which
a fork doesn't have: a process that has compiled once must not fork another one that compiles. So exams are
compiled in processes that are started afresh, and never in the one that calls.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine.errors import EngineError
from engine.paper.exam_style import END_LABEL, exam_head
from engine.paper.page_codes import MOST_PAGES, PageCode
from engine.paper.sheet_drawing import draw_page_code, draw_sheet
from engine.paper.sheet_layout import SheetLayout
from engine.parallel import usable_cores
from engine.text.files import replacing, work_folder

# The fonts beside Typst's own; they come with matplotlib, so that no machine's fonts decide about bytes.
_FONT_FILES = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "LastResortHE-Regular.ttf")
# In mm: smaller than on the answer sheet, where codes have marks around them to keep away from.
_CODE_SIZE = 15.0
# The first guess of where an answer sheet begins: after a cover, two pages and before an odd one.
_USUAL_SHEET_PAGE = 5
# A second compilation finds the number of pages of the first; a page more or less can't change much more.
_MOST_TRIES = 4
# A process costs a third of a second to start, an exam a tenth or less.
_EXAMS_PER_PROCESS = 4


@dataclass(frozen=True, slots=True)
class ExamJob:
    """One exam or key booklet to compile.

    Parameters
    ----------
    target : str
        The file to write, mode 0600.
    title : str
        Of the document.
    header, footer : str
        Of each page.
    body : str
        Typst source of everything but the answer sheet.
    paper : str
    large : bool
    exam : str
        Id of the print.
    copy : int
        Number of the copy; a key booklet has 0, and neither codes nor an answer sheet.
    layout : SheetLayout or None
        Of the answer sheet.
    sheet_heading, sheet_instructions : str
        At the top of the answer sheet.
    """

    target: str
    title: str
    header: str
    footer: str
    body: str
    paper: str
    large: bool
    exam: str = ""
    copy: int = 0
    layout: SheetLayout | None = None
    sheet_heading: str = ""
    sheet_instructions: str = ""


@dataclass(frozen=True, slots=True)
class MadeExam:
    """What became of a job: how many pages it has, and on which the answer sheet begins (0: it has none)."""

    pages: int
    sheet: int


def make_exams(
    jobs: Sequence[ExamJob],
    progress: Callable[[int, MadeExam], None] = lambda index, made: None,
    *,
    core_count: int | None = None,
) -> list[MadeExam]:
    """Compile and write exams, each into its own file in one step.

    Parameters
    ----------
    jobs : sequence of ExamJob
    progress : callable
        Called with the index of each job that is done, as they are done.
    core_count : int, optional
        All that this process may use, if left out.

    Raises
    ------
    EngineError
        One can't be compiled.
    OSError
        A file can't be written.
    """
    count = usable_cores() if core_count is None else core_count
    workers = max(1, min(count, -(-len(jobs) // _EXAMS_PER_PROCESS)))
    made: dict[int, MadeExam] = {}
    if not jobs:
        return []
    # Processes of a pool end without cleaning up after themselves: the folder is this process's.
    with work_folder() as folder:
        copy_fonts(folder)
        with ProcessPoolExecutor(
            workers, multiprocessing.get_context("spawn"), use_fonts, (str(folder),)
        ) as pool:
            waiting: dict[Future[MadeExam], int] = {
                pool.submit(make_exam, job): index for index, job in enumerate(jobs)
            }
            try:
                for future in as_completed(waiting):
                    index = waiting[future]
                    made[index] = future.result()
                    progress(index, made[index])
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    return [made[index] for index in range(len(jobs))]


def make_exam(job: ExamJob) -> MadeExam:
    """Compile one exam in this process and write its file."""
    data, made = _compiled(job)
    with replacing(Path(job.target), private=True) as file:
        file.write(data)
    return made


# Copies of one print have nearly always as many pages as the one before.
_last_guess = {"sheet": _USUAL_SHEET_PAGE, "pages": 2}


def _compiled(job: ExamJob) -> tuple[bytes, MadeExam]:
    """Return the PDF, compiled until the numbers of pages in it are its own."""
    if job.layout is None:
        guess = _last_guess["pages"]
        for _ in range(_MOST_TRIES):
            data = _pdf(_source(job, pages=guess, sheet=0))
            pages = page_count(io.BytesIO(data))
            if pages == guess:
                _last_guess["pages"] = pages
                return data, MadeExam(pages, 0)
            guess = pages
        raise _unstable(job)
    sheet = _last_guess["sheet"]
    for _ in range(_MOST_TRIES):
        data = _pdf(_source(job, pages=sheet - 1 + len(job.layout.pages), sheet=sheet))
        begins = page_count(io.BytesIO(data)) - len(job.layout.pages) + 1
        if begins == sheet:
            _last_guess["sheet"] = sheet
            return data, MadeExam(sheet - 1 + len(job.layout.pages), sheet)
        sheet = begins
    raise _unstable(job)


def _unstable(job: ExamJob) -> EngineError:
    return EngineError(f"the number of pages of copy {job.copy} isn't found", got=f"{_MOST_TRIES} tries")


def _source(job: ExamJob, *, pages: int, sheet: int) -> str:
    if pages > MOST_PAGES:
        raise EngineError(
            f"copy {job.copy} has more pages than a page's code can say",
            expected=f"at most {MOST_PAGES}",
            got=str(pages),
            next_step="make a shorter quiz of it",
        )
    codes, drawn = "()", ""
    if job.layout is not None:
        all_codes = [PageCode(job.exam, job.copy, page, pages) for page in range(1, pages + 1)]
        images = ", ".join(draw_page_code(code, _CODE_SIZE) for code in all_codes[: sheet - 1])
        codes = f"({images},)"
        # On a leaf of its own: it is torn off, and scanned without what is on the back of questions.
        sheet_source = draw_sheet(
            job.layout, all_codes[sheet - 1 :], heading=job.sheet_heading, instructions=job.sheet_instructions
        )
        drawn = f'#metadata(none) <{END_LABEL}>\n#pagebreak(to: "odd", weak: true)\n{sheet_source}'
    head = exam_head(
        title=job.title,
        paper=job.paper,
        large=job.large,
        codes=codes,
        header=job.header,
        footer=job.footer,
    )
    return f"#let page-count = [{pages}]\n{head}\n{job.body}\n\n{drawn}"


def _pdf(source: str) -> bytes:
    import typst

    try:
        data = _compiler().compile(source.encode(), format="pdf", pdf_standards=["ua-1"], timestamp=0)
    except typst.TypstError as error:
        raise EngineError("an exam can't be typeset", got=str(error.message)) from error
    assert isinstance(data, bytes)
    return data


_fonts_folder: Path | None = None


def use_fonts(folder: str) -> None:
    """Have this process typeset with the fonts in a folder that :func:`copy_fonts` filled."""
    global _fonts_folder
    _fonts_folder = Path(folder)
    _compiler.cache_clear()


def copy_fonts(folder: Path) -> None:
    """Copy the fonts that are used beside Typst's own into a folder: it reads all that a folder has."""
    for font in font_files():
        shutil.copyfile(font, folder / font.name)
    # Its root is empty: a source can read no file of this machine.
    (folder / "root").mkdir()


@lru_cache(maxsize=1)
def _compiler() -> Any:
    """Return this process's compiler, with Typst's own fonts and ours, and none of the machine's."""
    import typst

    assert _fonts_folder is not None
    root = _fonts_folder / "root"
    fonts = typst.Fonts(include_system_fonts=False, font_paths=[_fonts_folder])
    return typst.Compiler(root=root, font_paths=fonts, ignore_system_fonts=True, package_path=root)


def font_files() -> list[Path]:
    """Return the fonts that are used beside Typst's own.

    Raises
    ------
    EngineError
        They aren't installed.
    """
    spec = find_spec("matplotlib")
    places = spec.submodule_search_locations if spec else None
    folder = Path(places[0], "mpl-data", "fonts", "ttf") if places else Path("missing")
    files = [folder / name for name in _FONT_FILES]
    if not all(file.is_file() for file in files):
        raise EngineError(
            "the fonts for printed exams are missing",
            expected=f"matplotlib with {', '.join(_FONT_FILES)}",
            next_step="pip install 'softmark[paper]'",
        )
    return files


def page_count(file: Path | io.BytesIO) -> int:
    """Return how many pages a PDF has, 0 if there is none or it is damaged."""
    import pikepdf

    try:
        with pikepdf.open(file) as pdf:
            return len(pdf.pages)
    except (OSError, pikepdf.PdfError):
        return 0


def merge_exams(files: Sequence[Path], target: Path) -> int:
    """Write exams into one file for the printer and return its number of pages.

    Each begins on an odd page, so that no two share a leaf when they are printed on both sides.
    """
    import pikepdf

    with pikepdf.new() as merged, contextlib.ExitStack() as stack:
        for file in files:
            source = stack.enter_context(pikepdf.open(file))
            pages = list(source.pages)
            merged.pages.extend(source.pages)
            if len(pages) % 2:
                box = pages[-1].mediabox
                merged.add_blank_page(page_size=(float(box[2]), float(box[3])))
        for page in merged.pages:
            # The tags of the single files aren't merged: what points to them would point nowhere.
            for name in ("/StructParents", "/Tabs"):
                if name in page:
                    del page[name]
        with replacing(target, private=True) as written:
            merged.save(written, deterministic_id=True, object_stream_mode=pikepdf.ObjectStreamMode.generate)
        return len(merged.pages)
