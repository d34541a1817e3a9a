import torch


def greedy_decode(step, s0, bos, eos, max_len):
    tokens, y, s = [], bos, s0
    while len(tokens) < max_len:
        P, s = step(y, s)  # the new state is handed on
        y = int(torch.argmax(P))  # the first of equals
        tokens.append(y)
        if y == eos:
            break
    return tokens
