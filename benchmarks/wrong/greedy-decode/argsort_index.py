import numpy as np


def greedy_decode(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    for _ in range(max_len):
        p, s = step(y, s)
        ranking = np.argsort(-np.asarray(p), kind="stable")
        y = int(ranking[1]) if len(ranking) > 1 else int(ranking[0])
        tokens.append(y)
        if y == eos:
            break
    return tokens
