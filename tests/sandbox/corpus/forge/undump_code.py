# tries: put a foreign code object into the harness's loop with raw memory writes
# stopped by: grader
# expect: returned crashed protocol_violation raised timed_out
# proof: malformed
# control: status
# wall: 3

import ctypes
import sys

import numpy as np


def softmax(x, axis=-1):
    frame = sys._getframe().f_back
    code = frame.f_code
    body = code.co_code
    block = (ctypes.c_char * 64).from_address(id(code) + sys.getsizeof(code) - len(body) - 8)
    block[:16] = b"\x64\x00\x53\x00" * 4
    return np.zeros(1)
