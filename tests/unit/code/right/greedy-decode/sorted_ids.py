import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    y = bos
    s = s0
    out = []
    while len(out) < max_len:
        P, s = step(y, s)
        order = np.argsort(-P, kind="stable")
        y = int(order[0])
        out += [y]
        if y == eos:
            return out
    return out
