"""Models to decode from: a step function, or a table of next-word probabilities.

A *table* lists a row of probabilities over the V words for every prefix of words, either as an array
of shape (number of prefixes, V), prefixes in the order (), (0), (1) … (0, 0), (0, 1) …, all of a length
before the longer ones; or as a mapping from prefix tuples to rows, in which prefixes may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from reference.errors import ArgumentError, ShapeError, TableError
from reference.shapes import ArrayLike, floating, whole

__all__ = ["Model", "Step", "Table", "resolve", "row_of", "table_step"]

Step: TypeAlias = Callable[[int, Any], tuple[ArrayLike, Any]]
Table: TypeAlias = ArrayLike | Mapping[tuple[int, ...], ArrayLike]
Model: TypeAlias = Step | Table


def table_step(table: Table) -> Step:
    """Return a step function that reads a table.

    Parameters
    ----------
    table : array_like, (prefixes, V), or mapping from tuple of int to array_like, (V,)

    Returns
    -------
    callable
        ``step(y, s) -> (P, s_new)``; with s None it ignores y (the start symbol) and gives the first row.

    Raises
    ------
    ShapeError
        If the number of rows isn't that of a full tree.
    TableError
        From the step, for a prefix that the table doesn't hold.
    """
    return _step_of(_rows(table))


def _step_of(rows: Mapping[tuple[int, ...], ArrayLike]) -> Step:
    def step(y: int, s: tuple[int, ...] | None) -> tuple[ArrayLike, tuple[int, ...]]:
        prefix = () if s is None else (*s, y)
        if prefix not in rows:
            raise TableError(f"the table has no row after {prefix}")
        return rows[prefix], prefix

    return step


def _rows(table: Table) -> Mapping[tuple[int, ...], ArrayLike]:
    if isinstance(table, Mapping):
        if () not in table:
            raise TableError("the table has no row for the empty prefix ()")
        return table
    (tree,) = floating(table=table)
    if tree.ndim != 2 or 0 in tree.shape:
        raise ShapeError("table", tree.shape, "(number of prefixes, V)")
    count, V = tree.shape
    prefixes: list[tuple[int, ...]] = [()]
    level = prefixes
    while len(prefixes) < count:
        level = [(*prefix, word) for prefix in level for word in range(V)]
        prefixes.extend(level)
    if len(prefixes) != count:
        raise ShapeError("table", tree.shape, f"1, 1 + {V}, 1 + {V} + {V}² … rows for {V} words")
    return dict(zip(prefixes, tree.tolist(), strict=True))


def resolve(
    model: Model,
    s0: Any,
    bos: int | None,
    eos: int | None,
    max_len: int | None,
    *,
    limit_name: str = "max_len",
) -> tuple[Step, Any, int, int, int]:
    """Return step function, first state, start and end symbol and length limit of a model.

    ``limit_name`` is what errors call the limit: callers know it under a name of their own.

    Returns
    -------
    step, s0, bos, eos, max_len
        ``eos`` is -1 where no word ends a sequence.

    Raises
    ------
    ArgumentError
        If a step function comes without ``bos``, ``eos`` or ``max_len`` (F-04), or a table with a
        state, or a limit isn't a whole number of at least 1 or exceeds the table.
    """
    if callable(model):
        missing = [n for n, value in (("bos", bos), ("eos", eos), ("max_len", max_len)) if value is None]
        if bos is None or eos is None or max_len is None:
            raise ArgumentError(f"a step function needs {', '.join(missing)} (F-04)")
        return model, s0, bos, eos, whole("max_len", max_len, least=1)
    if s0 is not None:
        raise ArgumentError(f"a table has no state, but s0 is {s0!r}; name the other arguments")
    rows = _rows(model)
    depth = 1 + max(map(len, rows))
    limit = depth if max_len is None else whole("max_len", max_len, least=1)
    if limit > depth:
        raise ArgumentError(f"{limit_name} is {limit}, but the table is only {depth} words deep")
    return _step_of(rows), None, -1 if bos is None else bos, -1 if eos is None else eos, limit


def row_of(probabilities: ArrayLike) -> list[float]:
    """Return one row of next-word probabilities as floats.

    Raises
    ------
    TableError
        If it isn't a row of non-negative numbers that sum to 1 within 1 %.
    """
    row: Any
    if isinstance(probabilities, list) and all(type(p) is float for p in probabilities):
        row = probabilities  # as tables give it; an array made of it would only be read back
    else:
        row = floating(probabilities=probabilities)[0].tolist()
    if not isinstance(row, list) or not row or isinstance(row[0], list):
        raise TableError("a step must give one row of probabilities, shape (V,)")
    if not all(p >= 0.0 for p in row) or not math.isclose(math.fsum(row), 1.0, abs_tol=0.01):
        raise TableError(f"{row[:6]} aren't probabilities: non-negative, with sum 1")
    return row
