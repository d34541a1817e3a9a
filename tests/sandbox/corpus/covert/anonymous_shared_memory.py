# tries: write into memory that was mapped shared before the fork
# stopped by: fork
# expect: returned
# proof: next
# control: naive
# pair: same

import mmap

import numpy as np

_shared = mmap.mmap(-1, 4096)


def softmax(x, axis=-1):
    np.softmark_shared = _shared
    np.softmark_shared[:5] = b"hello"
    return np.zeros(1)


def collect(x, axis=-1):
    shared = getattr(np, "softmark_shared", None)
    return np.ones(1) if shared is not None and shared[:5] == b"hello" else np.zeros(1)
