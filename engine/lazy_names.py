"""Names of a package that are imported when they are first used: nobody pays for what isn't needed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return what a package calls ``__getattr__``.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        By module of the package, the names that are defined there, with blanks between them.

    Examples
    --------
    >>> lazy_names("engine.code", {"source": "names_of parse_python"})("names_of")("f(x, y)")
    ('x', 'y')
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def attribute(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)  # found at once the next time
        return value

    return attribute
