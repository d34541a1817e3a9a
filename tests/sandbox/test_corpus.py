"""Every attack of the corpus: stopped in T1 and T2, as root and as a user; and shown to work elsewhere.

It runs beside the library that it imports, as every submission does; some without torch run beside it too.

Left out on purpose: channels by timing, by the page cache (``mincore``) and by the numbers of
processes.  They carry a few bits a second between submissions and no key is in reach of them.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

import pytest
from arena_attack import TARGET_LINE, WITH_TORCH, Attack
from arena_client import ATTACKS, TIERS, Arena, checked, control_arena, opened

from engine.runner import CallStatus
from engine.sandbox.child.layers import Layers

LAYERS = frozenset(field.name for field in dataclasses.fields(Layers))

# not switchable: the decoder of values, the grader's half of the protocol, the cleared environment
_ALWAYS_ON = {"decoder", "grader", "environ"}
_KINDS = {
    "covert": 20,
    "crash": 15,
    "deserialise": 15,
    "early": 15,
    "files": 30,
    "flood": 15,
    "forge": 15,
    "giants": 10,
    "ipc": 5,
    "kernel": 8,
    "network": 12,
    "privilege": 8,
    "process": 15,
    "ptrace": 6,
    "resource": 20,
    "signals": 12,
}


def test_the_corpus_covers_every_kind() -> None:
    counts = Counter(attack.kind for attack in ATTACKS.values())
    assert {kind: counts[kind] for kind in _KINDS if counts[kind] < _KINDS[kind]} == {}
    assert set(counts) == set(_KINDS)


def test_headers_speak_the_sandbox_s_language() -> None:
    statuses = {str(status) for status in CallStatus} | {"missing"}
    for attack in ATTACKS.values():
        assert set(attack.stopped_by) <= LAYERS | _ALWAYS_ON, attack.name
        assert {status.removeprefix("load:") for status in attack.expect} <= statuses, attack.name
        assert set(attack.open_at) <= set(TIERS), attack.name
        text = attack.path.read_text()
        assert ("TARGET[" in text) == (TARGET_LINE in text), attack.name


def _statuses_fault(attack: Attack, report: dict[str, Any]) -> str | None:
    """Compare statuses with what the header expects."""
    load, statuses = report["load"], set(report["statuses"])
    wanted_load = {status.removeprefix("load:") for status in attack.expect if status.startswith("load:")}
    shown = f"load {load}, calls {report['statuses']}, expected {attack.expect}, {report['detail']}"
    if wanted_load:
        ended = {"not_run", load} if load != "returned" else {"not_run"}
        return None if load in wanted_load and statuses <= ended else shown
    if "missing" in attack.expect and "softmax" in report["missing"]:
        return None if statuses == {"not_run"} else shown
    # a violation during the calls takes back what was said of loading
    loaded = load == "returned" or (load == "protocol_violation" and "protocol_violation" in attack.expect)
    return None if loaded and statuses <= set(attack.expect) else shown


def _requests(attack: Attack, tier: str, user: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{user} attacks", {"do": "world"}),
        (f"{user} attacks", {"do": "open", "name": tier, "tier": tier, "off": []}),
        (f"{user} attacks", {"do": "attack", "runner": tier, "path": str(attack.path)}),
    ]


def test_attack_is_stopped(attack: Attack, tier: str, user: str, arenas: dict[str, Arena]) -> None:
    arena = arenas[f"{user} attacks"]
    if attack.needs == "ipv6" and not checked(arena.report(do="world"))["ipv6"]:
        pytest.skip("the loopback has no IPv6 here")
    report = checked(arena.report(do="attack", runner=opened(arena, tier), path=str(attack.path)))
    assert report["libraries"] == ["torch" if attack.imports_torch else "numpy"]
    _check_stopped(attack, tier, report)


def _check_stopped(attack: Attack, tier: str, report: dict[str, Any]) -> None:
    assert report["raised"] is None, "student code made the runner raise: that attempt would be ungraded"
    assert _statuses_fault(attack, report) is None
    assert report["malformed"] == []
    assert report["succeeded"] == (tier in attack.open_at), report["detail"]
    assert report["good"] is None, "the next submission is marked wrongly"
    assert report["left"] == [], "processes are left"
    if tier not in attack.open_at:
        assert report["files"] == [], "files are left"


test_attack_is_stopped.foresee = _requests  # type: ignore[attr-defined]


# of the others every fifth: the layers are put up by the same lines whatever was loaded before
_BESIDE_TORCH = [
    attack
    for number, attack in enumerate(ATTACKS.values())
    if not attack.imports_torch and attack.needs != "ipv6" and (attack.proof == "next" or number % 5 == 0)
]


def _beside_torch(beside: Attack, user: str, tier: str) -> list[tuple[str, dict[str, Any]]]:
    more = {"more": WITH_TORCH}
    opening, attacking = _requests(beside, tier, user)[1:]
    return [opening, (attacking[0], attacking[1] | more)]


@pytest.mark.parametrize(("user", "tier"), [("root", "T1"), ("user", "T2")])
@pytest.mark.parametrize("beside", _BESIDE_TORCH, ids=[attack.name for attack in _BESIDE_TORCH])
def test_attack_is_stopped_beside_torch(
    beside: Attack, user: str, tier: str, arenas: dict[str, Arena]
) -> None:
    """What one submission leaves for the next is looked for by a next one without torch."""
    arena = arenas[f"{user} attacks"]
    opened(arena, tier)
    report = checked(arena.report(**_beside_torch(beside, user, tier)[1][1]))
    assert report["libraries"] == (["numpy", "torch"] if beside.proof == "next" else ["torch"])
    _check_stopped(beside, tier, report)


test_attack_is_stopped_beside_torch.foresee = _beside_torch  # type: ignore[attr-defined]


def _control_requests(controlled: Attack) -> list[tuple[str, dict[str, Any]]]:
    return [(control_arena(controlled), {"do": "naive", "path": str(controlled.path)})]


def test_attack_works_on_a_naive_grader(controlled: Attack, arenas: dict[str, Arena]) -> None:
    name = control_arena(controlled)
    if name not in arenas:
        pytest.skip("this attack needs root to be shown to work")
    if controlled.needs == "ipv6" and not checked(arenas[name].report(do="world"))["ipv6"]:
        pytest.skip("the loopback has no IPv6 here")
    report = checked(arenas[name].report(do="naive", path=str(controlled.path)))
    if report["unknown"] and not report["succeeded"]:
        pytest.skip("this kernel doesn't have what the attack uses")
    assert report["succeeded"], report


test_attack_works_on_a_naive_grader.foresee = _control_requests  # type: ignore[attr-defined]
