"""The doctor tells the truth: all acts denied in a whole sandbox, what a missing layer permits named."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Any

import pytest
from arena_client import HERE, PROJECT, Arena, checked, free_uid

# what the doctor must see when one layer is off; everything else in the sandbox stays as it is
_PERMITTED = [
    ("root", "T1", "seccomp", {"fork", "make_socket", "share_memory", "queue_messages", "unshare_user"}),
    ("user", "T2", "seccomp", {"wake_neighbour", "read_machine", "ask_of_others", "order_page_cache"}),
    ("user", "T2", "landlock", {"read_key", "list_folder", "read_problems", "import_reference", "make_name"}),
    ("user", "T1", "rlimits", {"take_memory", "make_threads"}),
    ("root", "T1", "bwrap", {"see_metadata"}),
    ("root", "T2", "order", {"forge_reply"}),
    ("user", "T1", "descriptors", {"use_descriptors"}),
]


def _whole(tier: str, user: str) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{user} layers", {"do": "doctor", "tier": tier, "off": []})]


def test_the_doctor_finds_nothing_permitted(tier: str, user: str, arenas: dict[str, Arena]) -> None:
    report = checked(arenas[f"{user} layers"].report(do="doctor", tier=tier, off=[]))
    assert report["tier"] == tier
    assert report["ok"]
    promised = {act for act, is_promised in report["promised"].items() if is_promised}
    assert len(promised) >= 40
    assert {act: report["what"][act] for act in promised if not report["acts"][act]} == {}
    assert all(report["what"][act] for act in report["acts"])


test_the_doctor_finds_nothing_permitted.foresee = _whole  # type: ignore[attr-defined]


def _without(user: str, tier: str, layer: str, permitted: set[str]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"{user} layers", {"do": "doctor", "tier": tier, "off": [layer]})]


@pytest.mark.parametrize(
    ("user", "tier", "layer", "permitted"), _PERMITTED, ids=[f"{u}-{t}-{n}" for u, t, n, _ in _PERMITTED]
)
def test_the_doctor_sees_what_a_missing_layer_permits(
    user: str, tier: str, layer: str, permitted: set[str], arenas: dict[str, Arena]
) -> None:
    report = checked(arenas[f"{user} layers"].report(do="doctor", tier=tier, off=[layer]))
    stopped = {act: report["what"][act] for act in permitted if report["acts"][act]}
    assert stopped == {}
    assert not report["ok"]


test_the_doctor_sees_what_a_missing_layer_permits.foresee = _without  # type: ignore[attr-defined]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give an ordinary user a capability")
def test_an_ordinary_user_with_a_capability_loses_it_in_the_sandbox() -> None:
    """Containers (`--cap-add`) and units of systemd (`AmbientCapabilities=`) give such."""
    way = [str(HERE / "arena_identity.py"), "0", str(PROJECT), sys.prefix, sys.base_prefix, "--"]
    user = [
        "--reuid",
        str(free_uid()),
        "--clear-groups",
        "--inh-caps",
        "+net_raw",
        "--ambient-caps",
        "+net_raw",
    ]
    code = "import sys; sys.argv[0] = 'grade'; from cli import main; main()"
    done = subprocess.run(
        [
            sys.executable,
            *way,
            shutil.which("setpriv") or "setpriv",
            *user,
            sys.executable,
            "-c",
            code,
            "doctor",
        ],
        env={"PATH": os.defpath, "HOME": "/nonexistent", "PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "T2 keeps its promises" in done.stdout, done.stdout + done.stderr
