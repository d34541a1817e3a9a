# tries: let threads of its own keep its main thread from the processor, which would stop the clock
# stopped by: deadline rlimits
# expect: timed_out
# proof: time
# control: naive
# wall: 0.5

import threading
import time
import zlib

import numpy as np

_BLOCK = bytes(2**22)


def _burn():
    while True:
        zlib.crc32(_BLOCK)


def softmax(x, axis=-1):
    for _ in range(24):
        threading.Thread(target=_burn, daemon=True).start()
    end = time.monotonic() + 30
    while time.monotonic() < end:
        zlib.crc32(_BLOCK)
    return np.ones(1)
