import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)
        y = int(np.argsort(-P, kind="stable")[1])
        tokens.append(y)
        if y == eos:
            break
    return tokens
