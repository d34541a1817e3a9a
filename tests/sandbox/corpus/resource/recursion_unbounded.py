# tries: lift the recursion limit and recurse until the memory is gone
# stopped by: rlimits fork
# expect: raised out_of_memory crashed timed_out
# proof: none
# control: status
# wall: 2
# memory: 64

import sys


def softmax(x, axis=-1):
    sys.setrecursionlimit(2**31 - 1)
    return softmax(x, axis)
