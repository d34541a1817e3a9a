import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    y, s, tokens = bos, s0, []
    for length in range(1, max_len):
        p, s = step(y, s)
        y = int(np.argmax(np.asarray(p)))
        tokens += [y]
        if y == eos:
            break
    return tokens
