# tries: let a thread write to every descriptor while the real answer is on its way
# stopped by: grader
# expect: returned protocol_violation crashed
# proof: malformed
# control: status
# calls: 3

import os
import threading
import time

import numpy as np


def _noise():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        for fd in range(3, 32):
            try:
                os.write(fd, b"NOISE" * 8)
            except OSError:
                continue


def softmax(x, axis=-1):
    threading.Thread(target=_noise, daemon=True).start()
    time.sleep(0.02)
    return np.zeros(1)
