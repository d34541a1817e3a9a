"""What a worker's endpoint serves, read as Prometheus reads it, and the line of its log."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as plain_families

from engine import __version__
from engine.cluster.work_queue import ClaimedChunk, QueuedProgram, WorkerFacts
from engine.cluster.worker_counts import ChunkResult, WorkerCounts
from engine.cluster.worker_metrics import WorkerMetrics, serve_metrics
from engine.errors import UsageError
from engine.model import Check, GradeReport, Mode, Outcome, Verdict

FACTS = WorkerFacts("host/1", 4, "T1", "0123456789ab", "abcdef")


def result_of(
    *outcomes: Outcome,
    waited_s: float = 2.0,
    interactive: bool = False,
    seconds: tuple[float, ...] = (),
    fault: str | None = None,
    kind: str = "",
    losses: int = 0,
) -> ChunkResult:
    programs = tuple(
        QueuedProgram(n, "c", f"pseudonym{n}", "softmax", "v1", "marks", "code", losses, 0)
        for n in range(len(outcomes) + (fault is not None))
    )
    chunk = ClaimedChunk(7, 1, "c.T2.abcdef.0123456789ab", programs, interactive, waited_s)
    reports = tuple(
        GradeReport(
            item="softmax",
            item_version="v1",
            outcome=outcome,
            score=1.0,
            max_score=2.0,
            checks=(Check("values", Verdict.PASSED, 1.0, 1.0),) * 2,
            mode=Mode.MARKS,
        )
        for outcome in outcomes
    )
    return ChunkResult(chunk, reports, seconds or (0.02,) * len(outcomes), 0.5, 1, fault, kind)


def scraped(address: str, accept: str) -> tuple[str, str]:
    asked = urllib.request.Request(address, headers={"Accept": accept})
    with urllib.request.urlopen(asked, timeout=30) as reply:
        return reply.headers["Content-Type"], reply.read().decode()


def samples(address: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    kind, text = scraped(address, "application/openmetrics-text; version=1.0.0")
    assert kind.startswith("application/openmetrics-text") and text.endswith("# EOF\n")
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(found: Mapping[Any, float], sample: str, /, **labels: str) -> float:
    return found[sample, tuple(sorted(labels.items()))]


def test_the_endpoint_serves_what_the_worker_counted() -> None:
    counts = WorkerCounts()
    worker: Any = SimpleNamespace(facts=FACTS, counts_now=lambda: counts.copy(1.5), observe=None)
    with serve_metrics(worker, "127.0.0.1", 0) as address:
        before = samples(address)
        assert value(before, "softmark_programs_total", outcome="right") == 0
        assert value(before, "softmark_wait_seconds_count", kind="interactive") == 0
        for result in (
            result_of(Outcome.RIGHT, Outcome.WRONG, Outcome.RIGHT, seconds=(0.004, 0.02, 3.0), waited_s=40.0),
            result_of(Outcome.PARTIAL, interactive=True, waited_s=0.2),
            result_of(
                fault="a layer failed; got: BrokenLayerError: seccomp: not in force", kind="SandboxError"
            ),
            result_of(fault="no space left", kind="OSError"),
        ):
            counts.add(result)
            worker.observe(result)
        found = samples(address)
    outcomes = {o: value(found, "softmark_programs_total", outcome=o) for o in ("right", "wrong", "partial")}
    assert outcomes == {"right": 2, "wrong": 1, "partial": 1}
    assert value(found, "softmark_checks_total", verdict="passed") == 8
    assert value(found, "softmark_chunks_total") == 4
    assert value(found, "softmark_busy_seconds_total") == 2.0
    assert value(found, "softmark_reports_dropped_total") == 4
    assert value(found, "softmark_database_away_seconds_total") == 1.5
    assert value(found, "softmark_faults_total", error="SandboxError", layer="seccomp") == 1
    assert value(found, "softmark_faults_total", error="OSError", layer="") == 1
    assert value(found, "softmark_slots") == 4
    labels = {
        "version": __version__,
        "engine": FACTS.engine,
        "packages": FACTS.packages,
        "tier": "T1",
        "name": "host/1",
    }
    assert value(found, "softmark_worker_info", **labels) == 1
    # Histograms count each program, and are cumulative.
    assert value(found, "softmark_program_seconds_count") == 4
    assert value(found, "softmark_program_seconds_sum") == pytest.approx(0.004 + 0.02 + 3.0 + 0.02)
    for bound, number in (("0.005", 1), ("0.025", 3), ("2.5", 3), ("5.0", 4), ("+Inf", 4)):
        assert value(found, "softmark_program_seconds_bucket", le=bound) == number
    assert value(found, "softmark_wait_seconds_bucket", kind="batch", le="30.0") == 0
    assert value(found, "softmark_wait_seconds_bucket", kind="batch", le="60.0") == 3
    assert value(found, "softmark_wait_seconds_bucket", kind="interactive", le="0.25") == 1
    # Nobody is named, and nothing of the process or of others is served.
    assert all(name.startswith("softmark_") for name, _ in found)
    assert not any("pseudonym" in str(labels) or "space" in str(labels) for _, labels in found)


def test_a_reader_without_openmetrics_gets_the_older_format() -> None:
    worker: Any = SimpleNamespace(facts=FACTS, counts_now=WorkerCounts, observe=None)
    with serve_metrics(worker, "localhost", 0) as address:
        kind, text = scraped(address, "*/*")
        assert kind.startswith("text/plain")
        assert {"softmark_programs", "softmark_wait_seconds"} <= {f.name for f in plain_families(text)}
        asked = urllib.request.Request(address, data=b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=30)
        assert refused.value.code == 405
        refused.value.close()
    with pytest.raises(urllib.error.URLError):  # gone with its worker
        urllib.request.urlopen(address, timeout=5)


def test_a_port_that_is_taken_is_said() -> None:
    worker: Any = SimpleNamespace(facts=FACTS, counts_now=WorkerCounts, observe=None)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with (
            pytest.raises(UsageError, match="can't be served") as caught,
            serve_metrics(worker, "127.0.0.1", port),
        ):
            pass
    assert f"127.0.0.1:{port}" in str(caught.value) and "in use" in str(caught.value)
    with pytest.raises(UsageError, match="can't be served"), serve_metrics(worker, "no such host", 0):
        pass


def test_an_unknown_word_becomes_no_label() -> None:
    fault = "BrokenLayerError: somebody's text: failed"
    assert result_of(fault=fault, kind="SandboxError").layer == ""
    assert result_of(fault="landlock: not in force", kind="SandboxError").layer == "landlock"
    counts = WorkerCounts()
    counts.add(result_of(fault=fault, kind="SandboxError"))
    (metric,) = (m for m in WorkerMetrics(FACTS, lambda: counts).collect() if m.name == "softmark_faults")
    assert [(s.labels, s.value) for s in metric.samples] == [({"error": "SandboxError", "layer": ""}, 1)]


def test_the_line_of_a_chunk_has_all_its_fields() -> None:
    facts = result_of(Outcome.RIGHT, Outcome.WRONG, seconds=(0.01, 0.04), losses=1).facts()
    assert facts == {
        "job": 7,
        "attempt": 1,
        "queue": "c.T2.abcdef.0123456789ab",
        "item": "softmax",
        "version": "v1",
        "programs": 2,
        "graded": 2,
        "dropped": 1,
        "outcomes": {"right": 1, "wrong": 1},
        "seconds": 0.5,
        "slowest_s": 0.04,
        "waited_s": 2.0,
        "interactive": False,
        "suspect": True,
    }
    failed = result_of(Outcome.RIGHT, fault="seccomp: \x1b[31m\nnot", kind="SandboxError").facts()
    assert failed.items() >= {"failed": 1, "fault_kind": "SandboxError", "layer": "seccomp"}.items()
    line = json.dumps(failed)
    assert "\n" not in line and "\x1b" not in line and "pseudonym" not in line
