"""Loads one problem file: YAML, model, checks, and every fault of the three at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from engine.errors import SpecError
from engine.spec.checks import Reading, check_all
from engine.spec.functions import Vocabulary, builtin_vocabulary
from engine.spec.registry import builtin_registry
from engine.spec.schema import ProblemSpec
from engine.spec.validation import in_order, validation_faults
from engine.spec.yaml_source import read_yaml

__all__ = ["load_spec"]


def load_spec(
    path: Path,
    *,
    registry: Mapping[str, str] | None = None,
    vocabulary: Vocabulary | None = None,
) -> ProblemSpec:
    """Load a problem file.

    Parameters
    ----------
    path : Path
        The file; the item's id is its name.
    registry : mapping of str to str, optional
        Known mistakes and their sentences; the built-in registry if left out.
    vocabulary : Vocabulary, optional
        The functions that expressions and texts may call; ours if left out.

    Returns
    -------
    ProblemSpec

    Raises
    ------
    SpecError
        With all faults of the file, in the order of their lines.
    """
    document = read_yaml(path, keep_going=True)
    spec, faults = validation_faults(document, ProblemSpec)
    known = builtin_registry() if registry is None else registry
    if isinstance(document.data, dict):
        told = {(fault.line, fault.column) for fault in faults}
        found = check_all(Reading(document, path, known, vocabulary or builtin_vocabulary()))
        faults += [fault for fault in found if (fault.line, fault.column) not in told]
    faults += document.faults
    if spec is None or faults:
        raise SpecError(in_order(faults))
    return spec
