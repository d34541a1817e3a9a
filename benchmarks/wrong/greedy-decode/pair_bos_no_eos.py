import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    y, s = bos, s0
    out = []
    for _ in range(max_len):
        out.append(y)
        p, s = step(y, s)
        y = int(np.argmax(p))
        if y == eos:
            return out
    return [*out, y]
