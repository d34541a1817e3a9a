# tries: leave a message in the user's key ring
# stopped by: seccomp
# expect: returned
# proof: next
# control: naive
# pair: two

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in

libc = ctypes.CDLL(None, use_errno=True)
ADD, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]


def softmax(x, axis=-1):
    libc.syscall(ADD, b"user", TARGET["token"].encode(), b"hello", 5, -4)
    return np.zeros(1)


def collect(x, axis=-1):
    key = libc.syscall(KEYCTL, 10, -4, b"user", TARGET["token"].encode(), 0)
    if key < 0:
        return np.full(1, 2.0) if ctypes.get_errno() == 38 and TARGET["naive"] else np.zeros(1)
    libc.syscall(KEYCTL, 9, key, -4)
    return np.ones(1)
