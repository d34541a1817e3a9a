"""Draw a class's variants on workers and on this machine at the same time; it never fails because of a queue.

All variants are handed over, and workers take them from the front. Whenever nothing has come back, this
machine takes some from the end and draws them itself, so that no worker is ever waited for: one that is
killed, slow or not there only leaves more to do here. What is drawn is the same wherever that happens.

A worker could hand in wrong keys. Of every piece this machine draws some variants itself, at random, and
compares; of a worker whose variant differs nothing is taken.
"""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import Final

from engine.cluster.course_line import ProgramForQueue
from engine.cluster.course_side import CourseQueue
from engine.cluster.drawing import DrawingRequest, markup_of, read_drawn
from engine.cluster.fingerprint import QueueName
from engine.cluster.published_items import publish_drawn_item
from engine.cluster.queue_state import why_unserved
from engine.cluster.work_queue import DRAWING_MODE, QueueReport
from engine.errors import EngineError, InputError, StoreError
from engine.items.bank import Bank
from engine.model import Variant
from engine.parallel import on_all_cores, usable_cores
from engine.quiz.compose import LARGE_CLASS, ClassDraws, content
from engine.store.sql_tables import encode
from engine.text.words import clean_line, count_noun

# A tenth of a second of drawing: a hundred times what the queue takes for a piece, and little to lose.
_PIECE: Final = 50
_SAMPLE: Final = 25  # of so many variants one is drawn here, too
_SLICE: Final = 100  # pieces handed over in one transaction: workers begin with the first ones meanwhile
_TOGETHER: Final = 16  # reports read at a time; each has half a megabyte
_HERE_S: Final = 0.5  # of drawing here at a time: so long what comes from workers waits in the database
_OLD_S: Final = 86_400  # no drawing takes a day: what is older was left by a run that was killed

_Key = tuple[str, str]
_Drawn = tuple[Variant, str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Variants of one item that are handed over together."""

    item: str
    keys: Sequence[_Key]


class ClassDrawing:
    """Where variants are drawn (:data:`engine.quiz.compose.DrawingPlace`): on the queue's workers, too.

    Parameters
    ----------
    open_queue : callable
        Returns the course's connection to the queue; it is closed here.
    bank : Bank
        From which the class is drawn.
    expect : callable, optional
        Takes how many steps there will be, and returns what is called after each; what that raises ends all.
    """

    def __init__(
        self,
        open_queue: Callable[[], CourseQueue],
        bank: Bank,
        expect: Callable[[int], Callable[[], None]] = lambda total: lambda: None,
    ) -> None:
        self._open_queue = open_queue
        self._bank = bank
        self._expect = expect
        self.notes: list[str] = []
        """What was done, in sentences; what went wrong first."""

    def __call__(self, draws: ClassDraws) -> Mapping[_Key, _Drawn]:
        """Return the variants of a class, all but those at which drawing fails."""
        if len(draws.keys) < LARGE_CLASS:
            number = count_noun(len(draws.keys), "variant")
            self.notes.append(f"{number}: drawn on this machine sooner than handed over to workers")
            return {}
        run = _DrawingRun(self._bank, draws, self.notes, self._expect)
        try:
            with closing(self._open_queue()) as queue:
                run.use(queue)
        except StoreError as error:
            self.notes.append(f"the queue can't be used: {error.in_one_line()}")
        run.draw_rest()
        count = sum(run.counts.values())
        number = count_noun(len(draws.keys), "variant")
        who = f"workers drew {count} of {number}" if count else f"no worker drew any of {number}"
        self.notes.append(f"{who}; the others were drawn on this machine")
        return run.drawn


class _DrawingRun:
    def __init__(
        self,
        bank: Bank,
        draws: ClassDraws,
        notes: list[str],
        expect: Callable[[int], Callable[[], None]],
    ) -> None:
        self._bank = bank
        self._draws = draws
        self._notes = notes
        self._open: dict[int, _Piece] = {}  # by number in the queue, in the order of handing over
        self._left: list[_Piece] = _pieces(draws.keys)
        self._from: dict[str, list[_Piece]] = {}
        self._distrusted: set[str] = set()
        self._here = usable_cores()  # pieces to be drawn here at a time
        self._step = expect(len(self._left))
        self.drawn: dict[_Key, _Drawn] = {}

    @property
    def counts(self) -> dict[str, int]:
        """How many variants were taken from each worker."""
        return {name: sum(len(piece.keys) for piece in pieces) for name, pieces in self._from.items()}

    def use(self, queue: CourseQueue) -> None:
        """Draw with the queue's workers until nothing is handed over any more."""
        name = QueueName.of_drawing(queue.course)
        if reasons := why_unserved(queue.queue.database, str(name)):
            self._notes.extend(reasons)
            return
        queue.queue.forget_old(queue.course, DRAWING_MODE, _OLD_S)
        try:
            self._hand_over(queue, str(name))
            while self._open:
                # Reports first: each saves a tenth of a second here.
                if not self._take(queue):
                    self._draw_here(queue)
        finally:
            with suppress(StoreError):  # the next run with these students collects what was drawn
                queue.queue.cancel([*self._open])
            self._left += self._open.values()
            self._open.clear()

    def _hand_over(self, queue: CourseQueue, name: str) -> None:
        published: dict[str, tuple[str, str]] = {}
        faulty: list[_Piece] = []
        rows: list[tuple[_Piece, ProgramForQueue]] = []
        for piece in self._left:
            try:
                if piece.item not in published:
                    files = publish_drawn_item(queue.queue.database, queue.course, self._bank, piece.item)
                    published[piece.item] = self._bank.version(piece.item), files
            except (InputError, EngineError) as error:
                self._note(f"{piece.item} can't be handed over: {error.in_one_line()}")
                faulty.append(piece)
                continue
            seeds = tuple(map(self._draws.seed, piece.keys))
            version, files = published[piece.item]
            request = DrawingRequest(seeds, files, self._bank.wording)
            # No student: who gets which variant is known here only.
            row = ProgramForQueue("", piece.item, version, request.digest, request.text())
            rows.append((piece, row))
        self._left = faulty
        for start in range(0, len(rows), _SLICE):
            part = rows[start : start + _SLICE]
            handed = [row for _, row in part]
            numbers = queue.queue.hand_over(queue.course, name, DRAWING_MODE, queue.run, handed, chunk=1)
            self._open |= {number: piece for number, (piece, _) in zip(numbers, part, strict=True)}
            self._take(queue)

    def _take(self, queue: CourseQueue) -> int:
        """Take what workers have drawn; return how many pieces came."""
        came = queue.queue.reports_of(queue.run, _TOGETHER)
        for report in came:
            piece = self._open.pop(report.program, None)
            if piece is not None:
                if self._keep(piece, report):
                    self._step()
                else:
                    self._left.append(piece)
        if came:
            queue.queue.forget(report.program for report in came)
        return len(came)

    def _keep(self, piece: _Piece, report: QueueReport) -> bool:
        """Keep the variants of a piece if all samples are right; return whether they are."""
        if report.report is None:
            self._note(f"no worker could draw {piece.item}: {clean_line(report.reason or '', 300)}")
            return False
        if report.worker in self._distrusted:
            return False
        # The system's randomness: no worker can guess what will be compared.
        size = math.ceil(len(piece.keys) / _SAMPLE)
        sample = secrets.SystemRandom().sample(range(len(piece.keys)), size)
        here = {index: self._draws.draw(piece.keys[index]) for index in sample}
        variants = read_drawn(report.report, here[sample[0]][0], len(piece.keys))
        if variants is None or any(encode(variants[n]) != encode(here[n][0]) for n in sample):
            self._distrust(report.worker, piece.item)
            return False
        # Rarely an honest variant has a tag that no sample has. It is drawn here, and nobody is blamed.
        known = [markup_of(encode(here[n][0])) or frozenset() for n in sample]
        used = markup_of(report.report)
        if used is None or not used <= frozenset().union(*known):
            return False
        for key, variant in zip(piece.keys, variants, strict=True):
            self.drawn[key] = variant, content(variant)
        self._from.setdefault(report.worker, []).append(piece)
        return True

    def _distrust(self, worker: str, item: str) -> None:
        """Take back what a worker drew before, and take no more from it."""
        self._distrusted.add(worker)
        before = self._from.pop(worker, [])
        for piece in before:
            for key in piece.keys:
                del self.drawn[key]
        self._left += before
        self._note(
            f"worker {clean_line(worker)} drew {item} otherwise than this machine, so all that it drew was "
            "dropped; look at that machine"
        )

    def _draw_here(self, queue: CourseQueue) -> None:
        """Draw some pieces on this machine: those left over, or else the last ones of the queue."""
        if not self._left:
            last = [*self._open][-self._here :]
            mine = {*queue.queue.take_back(last)}
            # Cancelled meanwhile, or collected by another run of the same quiz: nothing will come of these.
            runs = queue.queue.runs_of(last)
            gone = [n for n in last if n in mine or runs.get(n) != queue.run]
            self._left = [self._open.pop(number) for number in gone]
        together, self._left = self._left[: self._here], self._left[self._here :]
        begun = time.monotonic()
        keys = [key for piece in together for key in piece.keys]
        drawn = on_all_cores(self._draws.draw, keys, least=_PIECE)
        # In a thread of the site there are no other cores. What failed there fails again when handed out.
        self.drawn |= drawn or {key: self._draws.draw(key) for key in keys}
        for _ in together:
            self._step()
        if together:
            piece_s = (time.monotonic() - begun) / len(together)
            self._here = max(1, int(_HERE_S / max(piece_s, 1e-3)))

    def draw_rest(self) -> None:
        """Draw on all cores what no worker has drawn; in a thread of the site nothing, as without a queue."""
        keys = [key for piece in self._left for key in piece.keys]
        self.drawn |= on_all_cores(self._draws.draw, keys, least=LARGE_CLASS)

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.append(sentence)


def _pieces(keys: Sequence[_Key]) -> list[_Piece]:
    """Return the variants in pieces of one item, so that a worker reads each item once."""
    by_item: dict[str, list[_Key]] = {}
    for key in keys:
        by_item.setdefault(key[1], []).append(key)
    return [
        _Piece(item, mine[start : start + _PIECE])
        for item, mine in by_item.items()
        for start in range(0, len(mine), _PIECE)
    ]
