import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    out = []
    y = bos
    s = s0
    for t in range(max_len):
        P, s = step(y, s)
        y = int(P.argmax())
        out.append(y)
    return out
