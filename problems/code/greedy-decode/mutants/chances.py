import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    tokens, chances, y, s = [], [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)
        y = int(np.argmax(P))
        tokens.append(y)
        chances.append(float(P[y]))
        if y == eos:
            break
    return chances


def greedy_decode_a(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)
        y = int(np.argmax(P))
        tokens.append(P)
        if y == eos:
            break
    return tokens
