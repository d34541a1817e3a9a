"""Imports and warms what student code may use, before any fork."""

from __future__ import annotations

import gc
import importlib
import os
import tempfile
import threading

__all__ = ["MODULES", "warm_up"]

MODULES = (
    "abc",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "heapq",
    "inspect",
    "itertools",
    "linecache",
    "math",
    "operator",
    "pdb",
    "random",
    "statistics",
    "string",
    "textwrap",
    "traceback",
    "typing",
    "unittest",
    "numpy",
    "numpy.linalg",
    "numpy.random",
    "numpy.testing",
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.optim",
    "torch._dynamo",
)


def warm_up() -> dict[str, str]:
    """Import, run each common operation once, freeze the garbage collector.

    Returns
    -------
    dict
        Versions of numpy and torch.

    Raises
    ------
    RuntimeError
        If more than one thread runs afterwards: after a fork the others would be missing, and
        operations that wait for them would hang.
    """
    tempfile.tempdir = "/tmp"  # torch asks for one; nothing can be written there
    for name in MODULES:
        importlib.import_module(name)
    _run_operations()
    _check_single_thread()
    gc.collect()
    gc.freeze()
    import numpy
    import torch

    return {"numpy": numpy.__version__, "torch": torch.__version__}


def _run_operations() -> None:
    import numpy as np
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    a = np.ones((4, 4))
    np.linalg.solve(a + np.eye(4), a)
    np.einsum("ij,jk->ik", a, a)
    np.exp(a - a.max(axis=-1, keepdims=True)) @ a
    # the first operations look up what the processor can do, in a file that no child may open; without it
    # float16 fails
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        q = torch.ones(1, 2, 4, 8, dtype=dtype)
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
        torch.einsum("bhqd,bhkd->bhqk", q, q).masked_fill(torch.ones(4, 4).triu(1) > 0, -torch.inf)
        (torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q).sum()
        torch.tanh(torch.exp(q) / q.max(dim=-1, keepdim=True).values)
        torch.nn.Linear(8, 8, dtype=dtype)(q)
    torch.linalg.solve(torch.eye(4), torch.ones(4, 4))


def _check_single_thread() -> None:
    threads = threading.active_count()
    if os.path.isdir("/proc/self/task"):  # noqa: PTH112
        threads = len(os.listdir("/proc/self/task"))  # noqa: PTH208
    if threads != 1:
        raise RuntimeError(f"{threads} threads run after the imports; one was expected")
