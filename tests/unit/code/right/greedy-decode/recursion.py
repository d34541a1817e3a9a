import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    if max_len == 0:
        return []
    P, s1 = step(bos, s0)
    y = np.flatnonzero(P == P.max())[0].item()
    if y == eos:
        return [y]
    return [y, *greedy_decode(step, s1, y, eos, max_len - 1)]
