import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)
        y = int(np.argmin(P))
        tokens.append(y)
        if y == eos:
            break
    return tokens
