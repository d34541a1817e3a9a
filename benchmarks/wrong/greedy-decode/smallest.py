import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    tokens = []
    y, s = bos, s0
    for _ in range(max_len):
        p, s = step(y, s)
        y = int(np.argsort(p, kind="stable")[0])  # best first
        tokens.append(y)
        if y == eos:
            break
    return tokens
