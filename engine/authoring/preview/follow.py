"""Follows the file in a thread: a look at every save, and what lint says of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from engine.authoring.lint import LintFinding
from engine.authoring.preview.cards import VariantCard, card_of
from engine.errors import DrawError, InputError, SoftmarkError
from engine.items import CodeAnswer, ProblemSpec
from engine.items.bank import Bank
from engine.text.watch import FileStamp, file_changes, file_stamp, folders_of, read_settled

# The state after a save: the variants of the item, or why there are none, and the findings of lint.

LINT_SEEDS = 30  # quick enough for every save; grade lint draws 200


@dataclass(frozen=True, slots=True)
class PreviewFault:
    """Why the item can't be shown: the place, what is wrong, and the lines that show or explain it."""

    place: str
    message: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewSource:
    """What is followed.

    Parameters
    ----------
    path : Path
    bank : callable
        Opens the bank that the item belongs to, anew for each look: its registry may have changed.
    seeds : int
        How many variants are shown.
    registries : tuple of Path
        The files that the bank reads beside the item: known mistakes, the syllabus.
    """

    path: Path
    bank: Callable[[], Bank]
    seeds: int
    registries: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class PreviewState:
    """What the page shows.

    Parameters
    ----------
    spec : ProblemSpec or None
        The item as it was when the cards were drawn; None if it never could be read.
    cards : tuple of VariantCard
        The variants; those of an earlier save where ``faults`` says why there are no new ones.
    faults : tuple of PreviewFault
    missing : tuple of (int, PreviewFault)
        Seeds that give no variant.
    starter : str or None
        Of a code exercise.
    findings : tuple of LintFinding or None
        What lint says; None while it is at work.
    at : datetime
        When the file was read.
    """

    at: datetime
    spec: ProblemSpec | None = None
    cards: tuple[VariantCard, ...] = ()
    faults: tuple[PreviewFault, ...] = ()
    missing: tuple[tuple[int, PreviewFault], ...] = ()
    starter: str | None = None
    findings: tuple[LintFinding, ...] | None = None

    @property
    def is_old(self) -> bool:
        """Whether the variants are those of an earlier save."""
        return bool(self.faults) and bool(self.cards)


def look_at(source: PreviewSource, before: PreviewState | None) -> PreviewState:
    """Read the file and draw its variants; never raises for a fault of the file.

    Parameters
    ----------
    source : PreviewSource
    before : PreviewState or None
        Its variants are kept where the file has faults now.
    """
    now = datetime.now().astimezone()
    try:
        spec, cards, missing, starter = _cards_of(source)
    except SoftmarkError as error:
        faults = faults_of(error, source.path)
    except Exception as error:  # the preview outlives a fault of ours, and says so
        faults = (_bug(error),)
    else:
        if cards or not missing:  # some seeds may fail: the page shows the others, and why these don't
            return PreviewState(now, spec, cards, missing=missing, starter=starter)
        faults = (missing[0][1],)
    if before is None:
        return PreviewState(now, faults=faults, findings=())
    return PreviewState(now, before.spec, before.cards, faults, before.missing, before.starter, findings=())


def _cards_of(
    source: PreviewSource,
) -> tuple[ProblemSpec, tuple[VariantCard, ...], tuple[tuple[int, PreviewFault], ...], str | None]:
    from engine.items import item_version, load_spec
    from engine.variants import draw_seeded

    registry = source.bank().registry()  # read again: it may be what was saved
    spec = load_spec(source.path, registry=registry)
    version = item_version(spec, source.path)
    cards: list[VariantCard] = []
    missing: list[tuple[int, PreviewFault]] = []
    starter = None
    if isinstance(spec.answer, CodeAnswer):
        starter = (source.path.parent / spec.answer.starter).read_text(encoding="utf-8", errors="replace")
    for seed in range(source.seeds):
        try:
            variant = draw_seeded(spec, version=version, registry=registry, seed=seed)
            cards.append(card_of(spec, variant, seed))
        except DrawError as error:
            missing.append((seed, faults_of(error, source.path)[0]))
    if not missing and len({card.variant.id for card in cards}) == 1:
        cards = cards[:1]  # nothing is drawn: every seed gives the same
    return spec, tuple(cards), tuple(missing), starter


def check(source: PreviewSource, look: PreviewState) -> tuple[LintFinding, ...]:
    """Return what lint says about the item that is shown; nothing where it can't be read."""
    from engine.authoring.lint import FindingSeverity, lint_item

    if look.spec is None or look.faults:
        return ()
    try:
        report = lint_item(look.spec, source.path, source.bank(), seeds=LINT_SEEDS, strict=True)
    except InputError as error:  # the file changed meanwhile: the next look says what is wrong
        return (LintFinding("spec", FindingSeverity.ERROR, error.what, error.where or ""),)
    except Exception as error:
        return (LintFinding("lint", FindingSeverity.ERROR, _bug(error).message),)
    return report.findings


def faults_of(error: SoftmarkError, path: Path) -> tuple[PreviewFault, ...]:
    """Return every fault that an error tells, with the lines of the file that show it."""
    if isinstance(error, InputError) and error.diagnostics:
        return tuple(
            PreviewFault(f"{fault.file}:{fault.line}:{fault.column}", fault.message, tuple(fault.lines()[1:]))
            for fault in error.diagnostics
        )
    return (PreviewFault(error.where or str(path), error.what, tuple(error.lines()[1:])),)


def _bug(error: Exception) -> PreviewFault:
    message = f"Softmark itself failed ({type(error).__name__}: {error})"
    return PreviewFault("", message, ("  next: save the file again; if this stays, report it",))


_ENDINGS = (".yaml", ".yml", ".py")
_JOIN_S = 5.0  # lint of an item takes longer only where it runs code, and the thread is a daemon


class SaveFollower:
    """Makes a look of every save and hands it on.

    Parameters
    ----------
    source : PreviewSource
    on_look : callable
        Called with every new look, from this object's own thread.
    """

    def __init__(self, source: PreviewSource, on_look: Callable[[PreviewState], None]) -> None:
        self._source = source
        self._on_look = on_look
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="preview", daemon=True)
        self._stamps = self._now(None)
        self.look = look_at(source, None)

    def start(self) -> None:
        """Begin to follow; the first look is there already."""
        self._thread.start()

    def stop(self) -> None:
        """End it; what is under way is waited for, but not for long."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_S)

    def _follow(self) -> None:
        self._lint()
        for _ in file_changes(self._folders(), _ENDINGS, self._stop):
            if self._stop.is_set():
                return
            stamps, _ = read_settled(self._source.path, lambda: self._now(self.look), self._stop)
            if stamps == self._stamps:
                continue
            self._stamps = stamps
            self._show(look_at(self._source, self.look))  # first the page, which takes a moment; then lint
            # the new item may depend on other files; of the old ones a save during the look still counts
            self._stamps = self._now(self.look, stamps)
            self._lint()

    def _show(self, look: PreviewState) -> None:
        self.look = look
        self._on_look(look)

    def _lint(self) -> None:
        if self.look.findings is None:
            self._show(replace(self.look, findings=check(self._source, self.look)))

    def _folders(self) -> set[Path]:
        folders: set[Path] = set()
        for path in self._files(self.look):
            # a folder that doesn't exist yet can't be watched, and would end the watching of all others
            folders |= {folder for folder in folders_of(path) if folder.is_dir()}
        return folders

    def _files(self, look: PreviewState | None) -> list[Path]:
        path = self._source.path
        paths = [path, *self._source.registries]
        answer = look.spec.answer if look is not None and look.spec is not None else None
        if isinstance(answer, CodeAnswer):
            names = (answer.starter, *answer.solutions, *(mutant.file for mutant in answer.mutants))
            paths += [path.parent / name for name in names]
        return paths

    def _now(
        self, look: PreviewState | None, earlier: Mapping[Path, FileStamp] | None = None
    ) -> dict[Path, FileStamp]:
        """Return the stamps of all files; of those in `earlier` as they were then."""
        stamps = earlier or {}
        return {path: stamps[path] if path in stamps else file_stamp(path) for path in self._files(look)}
