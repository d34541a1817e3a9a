import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    P, _ = step(bos, s0)
    return [int(np.argmax(P))]


def greedy_decode_a(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)
        y = int(np.argmax(P))
        tokens.append(y)
        if y == eos:
            break
        return tokens
    return tokens
