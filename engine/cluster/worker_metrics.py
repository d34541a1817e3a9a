"""A worker's metrics in OpenMetrics, for Prometheus and what speaks its language.

Counts are read from the worker when somebody asks, so the log, the last line and the metrics can't differ;
only the histograms are kept here. Labels are few and fixed: no student, no program, no text of an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from prometheus_client import CollectorRegistry, Histogram, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.registry import Collector

from engine import __version__
from engine.cluster.work_queue import WorkerFacts
from engine.cluster.worker import ClusterWorker
from engine.cluster.worker_counts import ChunkResult, WorkerCounts
from engine.errors import UsageError
from engine.model import Outcome, Verdict

# A program takes milliseconds, or runs into its limit; who waits for a report notices from a second on.
_PROGRAM_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_WAIT_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0)


class WorkerMetrics(Collector):
    """What one worker's endpoint says.

    Parameters
    ----------
    facts : WorkerFacts
    counts : callable
        Returns the worker's counts of this moment; called by the endpoint's threads.
    """

    def __init__(self, facts: WorkerFacts, counts: Callable[[], WorkerCounts]) -> None:
        # Its own: the library's common one says things about the process that nobody asked for.
        self.registry = CollectorRegistry()
        self._program_s = Histogram(
            "softmark_program_seconds",
            "Seconds of grading one program.",
            registry=self.registry,
            buckets=_PROGRAM_S,
        )
        self._wait_s = Histogram(
            "softmark_wait_seconds",
            "Seconds from handing a program over to the moment a worker began its chunk.",
            ["kind"],
            registry=self.registry,
            buckets=_WAIT_S,
        )
        for kind in ("interactive", "batch"):  # there from the start: a rate needs a 0 to begin with
            self._wait_s.labels(kind)
        self._facts, self._counts = facts, counts
        self.registry.register(self)

    def observe(self, result: ChunkResult) -> None:
        """Count one chunk in the histograms."""
        wait = self._wait_s.labels("interactive" if result.chunk.interactive else "batch")
        for seconds in () if result.drawn else result.program_s:
            self._program_s.observe(seconds)
            wait.observe(result.chunk.waited_s)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that are counts of the worker."""
        counts, facts = self._counts(), self._facts
        yield InfoMetricFamily(
            "softmark_worker",
            "Which version this worker is, and what it judges with.",
            value={
                "version": __version__,
                "engine": facts.engine,
                "packages": facts.packages,
                "tier": facts.tier,
                "name": facts.name,
            },
        )
        yield GaugeMetricFamily("softmark_slots", "Programs at the same time.", value=facts.slots)
        programs = CounterMetricFamily(
            "softmark_programs", "Programs graded, by outcome.", labels=["outcome"]
        )
        for outcome in Outcome:
            programs.add_metric([outcome], counts.outcomes.get(outcome, 0))
        yield programs
        checks = CounterMetricFamily("softmark_checks", "Checks of programs, by verdict.", labels=["verdict"])
        for verdict in Verdict:
            checks.add_metric([verdict], counts.verdicts.get(verdict, 0))
        yield checks
        yield CounterMetricFamily("softmark_variants", "Variants drawn for quizzes.", value=counts.variants)
        yield CounterMetricFamily("softmark_chunks", "Chunks handed in.", value=counts.chunks)
        yield CounterMetricFamily(
            "softmark_busy_seconds", "Seconds of grading, all slots together.", value=counts.seconds
        )
        yield CounterMetricFamily(
            "softmark_reports_dropped", "Reports that nobody needed.", value=counts.dropped
        )
        faults = CounterMetricFamily(
            "softmark_faults",
            "How often this machine failed to grade, by error and layer of the sandbox.",
            labels=["error", "layer"],
        )
        # The error that everybody looks for is there from the start, as 0.
        for (error, layer), number in ({("SandboxError", ""): 0} | counts.faults).items():
            faults.add_metric([error, layer], number)
        yield faults
        yield CounterMetricFamily(
            "softmark_database_away_seconds",
            "Seconds in which the database didn't answer.",
            value=counts.away_s,
        )


@contextmanager
def serve_metrics(worker: ClusterWorker, host: str, port: int) -> Iterator[str]:
    """Serve a worker's metrics while inside the block; yield the endpoint's address.

    Parameters
    ----------
    worker : ClusterWorker
        Before it runs: its hook is set here.
    host : str
    port : int
        0 for one that is free.

    Raises
    ------
    UsageError
        The port is taken, or the address isn't this machine's.
    """
    metrics = WorkerMetrics(worker.facts, worker.counts_now)
    try:
        server, thread = start_http_server(port, host, metrics.registry)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            "the metrics can't be served",
            where=f"{host}:{port}",
            got=str(getattr(error, "strerror", None) or error),
            next_step="choose another port with --metrics, or 0 for one that is free",
        ) from error
    worker.observe = metrics.observe
    try:
        name = f"[{host}]" if ":" in host else host
        yield f"http://{name}:{server.server_port}/metrics"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5.0)  # a reader that never finishes holds up nobody's end
