import torch


def greedy_decode(step, s0, bos, eos, max_len):
    result = []
    prev = bos
    hidden = s0
    i = 0
    while i <= max_len:
        dist, hidden = step(prev, hidden)
        prev = dist.argmax(dim=-1).item()
        result.append(prev)
        if prev == eos:
            return result
        i += 1
    return result
