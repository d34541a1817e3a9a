# tries: read the machine's free memory and number of threads, which a neighbour can move up and down
# stopped by: seccomp
# expect: returned
# proof: value
# control: naive

import ctypes

import numpy as np

libc = ctypes.CDLL(None, use_errno=True)


def softmax(x, axis=-1):
    numbers = ctypes.create_string_buffer(256)
    return np.ones(1) if libc.sysinfo(numbers) == 0 else np.zeros(1)
