import torch


def greedy_decode(step, s0, bos, eos, max_len):
    seq = []
    y = bos
    while len(seq) < max_len and y != eos or not seq:
        p, _ = step(y, s0)
        y = len(p) - 1 - int(torch.argmax(torch.flip(p, [0])))
        seq.append(y)
    return seq
