# tries: end the process by the C library's exit, which runs other people's hooks
# stopped by: fork
# expect: crashed
# proof: dies
# control: naive

import ctypes


def softmax(x, axis=-1):
    ctypes.CDLL(None).exit(0)
