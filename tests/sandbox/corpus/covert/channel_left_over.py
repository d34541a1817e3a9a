# tries: leave bytes in the channel, where the next submission or its grader would read them
# stopped by: grader fork
# expect: returned protocol_violation
# proof: next
# control: status
# pair: two

import atexit
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def _leave():
    for fd in range(0, 64):
        try:
            os.write(fd, TARGET["token"].encode())
        except OSError:
            continue


def softmax(x, axis=-1):
    atexit.register(_leave)
    return np.zeros(1)


def collect(x, axis=-1):
    heard = b""
    for fd in range(0, 64):
        try:
            os.set_blocking(fd, False)
            heard += os.read(fd, 65536)
        except OSError:
            continue
    return np.ones(1) if TARGET["token"].encode() in heard.replace(b"'token'", b"")[:200] else np.zeros(1)
