import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    y, s = bos, s0
    tokens = []
    for _ in range(max_len):
        P, s = step(y, s)
        y = int(np.argmax(P))
        tokens.append(y)
        if y == eos:
            break
    return tokens
