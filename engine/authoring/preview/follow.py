"""What a save left: the variants of the item, or why there are none; then what lint says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.authoring.preview.cards import Card, card_of
from engine.errors import DrawError, InputError, SoftmarkError
from engine.lint import Finding
from engine.spec.bank import Bank
from engine.spec.schema import CodeAnswer, ProblemSpec

__all__ = ["Fault", "Look", "Source", "check", "look_at"]

LINT_SEEDS = 30


@dataclass(frozen=True, slots=True)
class Fault:
    """Why the item can't be shown: the place, what is wrong, and the lines that show or explain it."""

    place: str
    message: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
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
class Look:
    """What the page shows.

    Parameters
    ----------
    spec : ProblemSpec or None
        The item as it was when the cards were drawn; None if it never could be read.
    cards : tuple of Card
        The variants; those of an earlier save where ``faults`` says why there are no new ones.
    faults : tuple of Fault
    missing : tuple of (int, Fault)
        Seeds that give no variant.
    starter : str or None
        Of a code exercise.
    findings : tuple of Finding or None
        What lint says; None while it is at work.
    at : datetime
        When the file was read.
    """

    at: datetime
    spec: ProblemSpec | None = None
    cards: tuple[Card, ...] = ()
    faults: tuple[Fault, ...] = ()
    missing: tuple[tuple[int, Fault], ...] = ()
    starter: str | None = None
    findings: tuple[Finding, ...] | None = None

    @property
    def is_old(self) -> bool:
        """Whether the variants are those of an earlier save."""
        return bool(self.faults) and bool(self.cards)


def look_at(source: Source, before: Look | None) -> Look:
    """Read the file and draw its variants; never raises for a fault of the file.

    Parameters
    ----------
    source : Source
    before : Look or None
        Its variants are kept where the file has faults now.
    """
    now = datetime.now().astimezone()
    try:
        spec, cards, missing, starter = _drawn(source)
    except SoftmarkError as error:
        faults = faults_of(error, source.path)
    except Exception as error:  # the preview outlives a fault of ours, and says so
        faults = (_bug(error),)
    else:
        if cards or not missing:
            return Look(now, spec, cards, missing=missing, starter=starter)
        faults = (missing[0][1],)
    if before is None:
        return Look(now, faults=faults, findings=())
    return Look(now, before.spec, before.cards, faults, before.missing, before.starter, findings=())


def _drawn(
    source: Source,
) -> tuple[ProblemSpec, tuple[Card, ...], tuple[tuple[int, Fault], ...], str | None]:
    from engine.spec import item_version, load_spec
    from engine.variants import draw_seeded

    registry = source.bank().registry()
    spec = load_spec(source.path, registry=registry)
    version = item_version(spec, source.path)
    cards: list[Card] = []
    missing: list[tuple[int, Fault]] = []
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


def check(source: Source, look: Look) -> tuple[Finding, ...]:
    """Return what lint says about the item that is shown; nothing where it can't be read."""
    from engine.lint import Severity, lint_item

    if look.spec is None or look.faults:
        return ()
    try:
        report = lint_item(look.spec, source.path, source.bank(), seeds=LINT_SEEDS, strict=True)
    except InputError as error:  # the file changed meanwhile: the next look says what is wrong
        return (Finding("spec", Severity.ERROR, error.what, error.where or ""),)
    except Exception as error:
        return (Finding("lint", Severity.ERROR, _bug(error).message),)
    return report.findings


def faults_of(error: SoftmarkError, path: Path) -> tuple[Fault, ...]:
    """Return every fault that an error tells, with the lines of the file that show it."""
    if isinstance(error, InputError) and error.diagnostics:
        return tuple(
            Fault(f"{fault.file}:{fault.line}:{fault.column}", fault.message, tuple(fault.lines()[1:]))
            for fault in error.diagnostics
        )
    return (Fault(error.where or str(path), error.what, tuple(error.lines()[1:])),)


def _bug(error: Exception) -> Fault:
    what = f"Softmark itself failed ({type(error).__name__}: {error})"
    return Fault("", what, ("  next: save the file again; if this stays, report it",))
