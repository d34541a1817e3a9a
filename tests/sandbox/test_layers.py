"""Each layer matters: without it at least one attack gets through that it stops otherwise."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from arena_client import ATTACKS, Arena, checked, opened

from engine.sandbox.child.layers import Layers

LAYERS = frozenset(field.name for field in dataclasses.fields(Layers))

_BOTH = {
    "fork": ("covert/builtin", "covert/numpy_random", "covert/torch_default_dtype"),
    "rlimits": ("resource/memory_zeros", "resource/file_descriptors", "resource/threads"),
    "descriptors": ("forge/spare_descriptors",),
    "landlock": ("files/own_harness",),
    "seccomp": (
        "process/fork_only",
        "network/netlink",
        "ipc/sysv_queue",
        "privilege/unshare_user",
        "covert/futex_of_library",
        "covert/machine_numbers",
    ),
    "deadline": ("resource/cpu_sleep",),
    "output": ("flood/print",),
    "order": ("early/other_call", "early/answer_plan_at_import"),
}
# what else gets through, by tier: in T1 the mount namespace hides what Landlock forbids in T2
_ONLY = {
    ("T1", "bwrap"): ("files/stat_key",),
    ("T2", "landlock"): (
        "files/read_open_file",
        "files/import_reference",
        "files/read_bank",
        "files/empty_file",
    ),
}
# an ordinary user can't become another one, so this layer is root's
_ROOT = {"uid": ("privilege/identity",)}

# these are the grader's own, the same lines whatever the tier and the user: shown twice, not four times
_GRADER_S = {"deadline", "output", "order"}
_ONCE = {("root", "T1"), ("user", "T2")}


def _attacks(layer: str, tier: str, user: str) -> tuple[str, ...]:
    roots = _ROOT.get(layer, ()) if user == "root" else ()
    return (*_BOTH.get(layer, ()), *_ONLY.get((tier, layer), ()), *roots)


def test_every_layer_has_an_attack_of_its_own() -> None:
    assert set(_BOTH) | {layer for _, layer in _ONLY} | set(_ROOT) == LAYERS
    for layer in LAYERS:
        for name in _attacks(layer, "T1", "root"):
            assert layer in ATTACKS[name].stopped_by, name


def _cases() -> list[Any]:
    return [
        pytest.param(layer, tier, user, id=f"{user}-{tier}-{layer}")
        for user in ("root", "user")
        for tier in ("T1", "T2")
        for layer in sorted(LAYERS)
        if _attacks(layer, tier, user) and (layer not in _GRADER_S or (user, tier) in _ONCE)
    ]


def _request(layer: str, tier: str, user: str) -> dict[str, Any]:
    paths = [str(ATTACKS[name].path) for name in _attacks(layer, tier, user)]
    return {"do": "layer", "tier": tier, "layer": layer, "paths": paths}


@pytest.mark.parametrize(("layer", "tier", "user"), _cases())
def test_attacks_get_through_without_a_layer(
    layer: str, tier: str, user: str, arenas: dict[str, Arena]
) -> None:
    without = checked(arenas[f"{user} layers"].report(**_request(layer, tier, user)))
    assert without["opened"] == {"tier": tier, "good": None}
    assert all(without["succeeded"].values()), without["reports"]
    arena = arenas[f"{user} attacks"]
    for path in without["succeeded"]:
        with_all = checked(arena.report(do="attack", runner=opened(arena, tier), path=path))
        assert not with_all["succeeded"]


def _requests(layer: str, tier: str, user: str) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{user} layers", _request(layer, tier, user))]


test_attacks_get_through_without_a_layer.foresee = _requests  # type: ignore[attr-defined]
