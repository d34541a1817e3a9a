"""The class of 20 and its known table: which checks each submission fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

__all__ = ["ClassSubmission", "differences", "known_checks", "read_class"]

ROOT = Path(__file__).parents[2]
KNOWN = Path(__file__).with_name("of_20.yaml")
ALL = "all"


@dataclass(frozen=True, slots=True)
class ClassSubmission:
    """One submission of the class with what is known of it.

    Parameters
    ----------
    id : str
        ``student/item``.
    path : Path
    item, outcome : str
    torch : bool
        Whether it imports torch.
    fails : frozenset of str
        The checks that it fails.
    open : frozenset of str
        Checks whose verdict depends on the inputs that a grader happens to try: either is right.
    """

    id: str
    path: Path
    item: str
    outcome: str
    torch: bool
    fails: frozenset[str]
    open: frozenset[str] = frozenset()


def read_class(known: Path = KNOWN, root: Path = ROOT) -> tuple[ClassSubmission, ...]:
    """Return the submissions that the table lists, in its order.

    Raises
    ------
    ValueError
        The table contradicts itself.
    """
    entries = yaml.safe_load(known.read_text(encoding="utf-8"))
    checks = entries["checks"]
    return tuple(_handed(entry, checks, root) for entry in entries["submissions"])


def _handed(entry: Mapping[str, object], checks: Mapping[str, Sequence[str]], root: Path) -> ClassSubmission:
    path = root / str(entry["file"])
    item, name = path.stem, f"{path.parent.name}/{path.stem}"
    listed = entry["fails"]
    fails = frozenset(checks[item]) if listed == ALL else frozenset(listed)  # type: ignore[arg-type]
    either = frozenset(entry.get("open", ()))  # type: ignore[arg-type]
    strange = (fails | either) - set(checks[item])
    if strange or fails & either:
        raise ValueError(f"{name}: {sorted(strange or fails & either)} can't stand there")
    if (entry["outcome"] == "right") != (not fails):
        raise ValueError(f"{name} is {entry['outcome']} but fails {sorted(fails)}")
    torch = "import torch" in path.read_text(encoding="utf-8")
    return ClassSubmission(name, path, item, str(entry["outcome"]), torch, fails, either)


def differences(
    known: Iterable[ClassSubmission], found: Iterable[Mapping[str, str]], checks: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return one line per verdict that isn't the known one.

    Parameters
    ----------
    known : iterable of ClassSubmission
    found : iterable of mapping of str to str
        For each submission check → ``"passed"``, ``"failed"`` or ``"skipped"``; a check that isn't there
        didn't pass. Skipped is no claim about the check, so it agrees with a submission that fails
        anything, and with none that is right.
    checks : mapping of str to sequence of str
        The checks of each item.
    """
    lines = []
    for handed, verdicts in zip(known, found, strict=True):
        for check in checks[handed.item]:
            verdict = verdicts.get(check, "failed")
            if check in handed.open or (verdict == "skipped" and handed.fails):
                continue
            wanted = "failed" if check in handed.fails else "passed"
            if verdict != wanted:
                lines.append(f"{handed.id}: {check} {verdict}, known to have {wanted}")
    return lines


def known_checks(known: Path = KNOWN) -> dict[str, list[str]]:
    """Return the checks of each item, as every grader of the class runs them."""
    found: dict[str, list[str]] = yaml.safe_load(known.read_text(encoding="utf-8"))["checks"]
    return found
