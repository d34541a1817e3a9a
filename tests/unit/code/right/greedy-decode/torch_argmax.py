import torch


def greedy_decode(step, s0, bos, eos, max_len):
    tokens = []
    y, s = bos, s0
    with torch.no_grad():
        for _ in range(max_len):
            P, s = step(y, s)
            y = torch.argmax(P).item()
            tokens.append(y)
            if y == eos:
                break
    return tokens
