"""Imports and warms up what student code may use, before there is any.

Importing torch takes seconds, and the first operation of a kind loads libraries and reads files that the
layers forbid later.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

__all__ = ["import_modules", "run_operations"]

_MODULES: Final = """
    abc bisect collections contextlib copy dataclasses decimal enum fractions functools heapq inspect
    itertools linecache math operator pdb random statistics string textwrap traceback typing unittest
    numpy numpy.linalg numpy.random numpy.testing
    torch torch.nn torch.nn.functional torch.optim torch._dynamo
"""


def import_modules() -> Any:
    """Import what submissions commonly use, keep torch to one thread, and return torch."""
    for name in _MODULES.split():
        importlib.import_module(name)
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    return torch


def run_operations(device: str = "cpu") -> None:
    """Run each common operation of torch once, so that everything it loads lazily is loaded."""
    import torch

    # Without gradients on a GPU: the thread that computes them there must be the submission's own (see
    # `device_worker`), and nothing here may start it.
    with torch.set_grad_enabled(device == "cpu"):
        # The first operations look up what the processor can do, in a file that no child may open; without
        # it float16 fails.
        for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
            q = torch.ones(1, 2, 4, 8, dtype=dtype, device=device)
            torch.nn.functional.scaled_dot_product_attention(q, q, q)
            scores = torch.einsum("bhqd,bhkd->bhqk", q, q)
            scores.masked_fill(torch.ones(4, 4, device=device).triu(1) > 0, -torch.inf)
            (torch.softmax(q @ q.transpose(-1, -2), dim=-1) @ q).sum()
            torch.tanh(torch.exp(q) / q.max(dim=-1, keepdim=True).values)
            torch.nn.Linear(8, 8, dtype=dtype, device=device)(q)
        torch.linalg.solve(torch.eye(4, device=device), torch.ones(4, 4, device=device))
        torch.zeros(1, device=device).cpu()
