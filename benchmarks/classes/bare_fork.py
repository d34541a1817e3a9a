"""The lower bound that ``code_grading.py`` compares with: fork, load, call, pipe back; no isolation."""

from __future__ import annotations

import os
import pickle
import struct
import sys
import types

import numpy as np
import torch

torch.set_num_threads(1)


def build(leaf: object, as_tensor: bool) -> object:
    """Turn the plan's wire values into arrays or tensors."""
    if isinstance(leaf, tuple | list):
        return type(leaf)(build(v, as_tensor) for v in leaf)
    if not hasattr(leaf, "data"):
        return leaf
    dtype = getattr(torch, "bool" if leaf.dtype == "bool" else leaf.dtype)
    tensor = torch.frombuffer(bytearray(leaf.data), dtype=dtype).reshape(leaf.shape)
    return tensor if as_tensor else tensor.numpy()


def answer(source: str, as_tensor: bool, calls: list) -> bytes:
    module = types.ModuleType("submission")
    values = []
    try:
        exec(compile(source, "submission.py", "exec"), module.__dict__)
    except BaseException as error:
        return pickle.dumps(repr(error))
    for function, args, kwargs in calls:
        try:
            named = {k: build(v, as_tensor) for k, v in kwargs.items()}
            value = module.__dict__[function](*(build(v, as_tensor) for v in args), **named)
            values.append(np.asarray(value))
        except BaseException as error:
            values.append(repr(error))
    return pickle.dumps(values)


def main() -> None:
    torch.softmax(torch.ones(2, 2), -1) @ torch.ones(2, 2)
    sys.stdout.buffer.write(b"ready\n")
    sys.stdout.buffer.flush()
    while head := sys.stdin.buffer.read(8):
        job = pickle.loads(sys.stdin.buffer.read(int.from_bytes(head, "little")))
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            data = answer(*job)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(data)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            data = pipe.read()
        os.waitpid(pid, 0)
        sys.stdout.buffer.write(struct.pack("<Q", len(data)) + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
