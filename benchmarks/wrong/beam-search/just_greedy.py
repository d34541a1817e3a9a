import math
import torch


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    tokens, total, y, s = [], 0.0, bos, s0
    for _ in range(max_len):
        P, s = step(y, s)
        y = int(torch.argmax(P))
        total += math.log(float(P[y]))
        tokens.append(y)
        if y == eos:
            break
    return [(tokens, total)]
