"""The registry of known mistakes: id -> the sentence that a learner is shown."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Discriminator, Field, RootModel, Tag

import engine
from engine.spec.kinds import MisconceptionId, Sentence
from engine.spec.schema import Strict
from engine.spec.validation import validate
from engine.spec.yaml_source import read_yaml

__all__ = ["REGISTRY_FILE", "KnownMistake", "Registry", "builtin_registry", "builtin_root", "load_registry"]

REGISTRY_FILE = "misconceptions.yaml"


class KnownMistake(Strict):
    """A known mistake: the wrong formula, for lecturers, and the sentence for learners."""

    feedback: Sentence = Field(description="What is observed in the answer, and what would be right.")
    formula: Sentence | None = Field(default=None, description="The wrong formula, in words or symbols.")


def _form(value: Any) -> str:
    return "mapping" if isinstance(value, dict | KnownMistake) else "text"


class Registry(RootModel[dict[MisconceptionId, Any]]):
    """The file ``misconceptions.yaml``: by id a sentence, or ``feedback`` and ``formula``."""

    root: dict[
        MisconceptionId,
        Annotated[
            Annotated[Sentence, Tag("text")] | Annotated[KnownMistake, Tag("mapping")], Discriminator(_form)
        ],
    ]


def load_registry(path: Path) -> dict[str, str]:
    """Return the sentences of a registry file by id.

    Raises
    ------
    SpecError
        With all faults of the file.
    """
    entries = validate(read_yaml(path, keep_going=True), Registry).root
    return {
        name: entry.feedback if isinstance(entry, KnownMistake) else " ".join(entry.split())
        for name, entry in entries.items()
    }


def builtin_root() -> Path:
    """Return the folder of the built-in bank, beside the engine."""
    return Path(engine.__file__).resolve().parent.parent / "problems"


@lru_cache(maxsize=1)
def builtin_registry() -> Mapping[str, str]:
    """Return the built-in registry; read once."""
    return MappingProxyType(load_registry(builtin_root() / REGISTRY_FILE))
