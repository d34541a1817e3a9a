import torch


def greedy_decode(step, s0, bos, eos, max_len):
    tokens = []
    token, state = bos, s0
    while len(tokens) < max_len:
        probs, state = step(token, state)
        token = int(torch.argmax(probs).item())
        if token == eos:
            break
        tokens.append(token)
    return tokens
