"""One attack of the corpus: its file, and what its header says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
WITH_TORCH = "\nimport torch\n"  # at the end of a file: it runs beside torch then
TARGET_LINE = "TARGET: dict = {}  # the arena fills this in"
PROOFS = frozenset(
    [
        "value",
        "loot",
        "file",
        "listener",
        "canary",
        "survivor",
        "next",
        "victim",
        "engine",
        "replaced",
        "dies",
        "time",
        "flood",
        "malformed",
        "naive-encode",
        "ahead",
        "exact",
        "none",
    ]
)
CONTROLS = frozenset(("naive", "naive-root", "naive-pickle", "naive-encode", "status"))
_REQUIRED = ("tries", "stopped by", "expect", "proof", "control")
_OPTIONAL = ("calls", "wall", "memory", "pair", "needs", "open at", "value")


@dataclass(frozen=True)
class Attack:
    """What a corpus file says of itself.

    Parameters
    ----------
    name : str
        ``kind/file`` without the suffix.
    stopped_by : tuple of str
        The layers that each stop it alone, or together.
    expect : tuple of str
        Statuses that its calls may end with; ``load:STATUS`` where loading is the attack,
        ``missing`` where the function isn't there.
    proof : str
        How its success would show.
    control : str
        Where it is shown to work: at the naive grader (as the same user, as root, or one that
        unpickles results), or ``status``: the expected status itself shows that it acted.
    """

    name: str
    path: Path
    tries: str
    stopped_by: tuple[str, ...]
    expect: tuple[str, ...]
    proof: str
    control: str
    calls: int
    wall_s: float
    memory_mib: int
    pair: str
    needs: str
    open_at: tuple[str, ...]
    value: tuple[str, ...]

    @property
    def kind(self) -> str:
        """The folder."""
        return self.name.split("/")[0]

    @property
    def imports_torch(self) -> bool:
        """Whether it runs beside torch."""
        return "import torch" in self.path.read_text()

    def source(self, target: dict[str, object]) -> str:
        """Return the file's text with the arena's targets filled in."""
        return self.path.read_text().replace(TARGET_LINE, f"TARGET: dict = {target!r}")


def read_attack(path: Path) -> Attack:
    """Read the header of one corpus file; ValueError for one that isn't complete."""
    keys: dict[str, str] = {}
    for line in path.read_text().splitlines():
        match = re.fullmatch(r"# ([a-z ]+): (.+)", line)
        if match is None:
            break
        keys[match[1]] = match[2]
    unknown = set(keys) - {*_REQUIRED, *_OPTIONAL}
    missing = set(_REQUIRED) - set(keys)
    if unknown or missing:
        raise ValueError(f"{path}: header lacks {sorted(missing)}, has unknown {sorted(unknown)}")
    if keys["proof"] not in PROOFS or keys["control"] not in CONTROLS:
        raise ValueError(f"{path}: unknown proof or control")
    return Attack(
        name=str(path.relative_to(CORPUS).with_suffix("")),
        path=path,
        tries=keys["tries"],
        stopped_by=tuple(keys["stopped by"].split()),
        expect=tuple(keys["expect"].split()),
        proof=keys["proof"],
        control=keys["control"],
        calls=int(keys.get("calls", "1")),
        wall_s=float(keys.get("wall", "5")),
        memory_mib=int(keys.get("memory", "512")),
        pair=keys.get("pair", ""),
        needs=keys.get("needs", ""),
        open_at=tuple(keys.get("open at", "").split()),
        value=tuple(keys.get("value", "").split()),
    )


def read_corpus() -> list[Attack]:
    """Return all attacks, by name."""
    return [read_attack(path) for path in sorted(CORPUS.glob("*/*.py"))]
