import torch


def greedy_decode(step, s0, bos, eos, max_len):
    out = []
    y, s = bos, s0
    for _ in range(max_len):
        p, s = step(y, s)
        y = int(p.argmax())
        out.append(y)
        if y == eos:
            break
        return out
    return out
