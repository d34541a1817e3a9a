import torch


def greedy_decode(step, s0, bos, eos, max_len):
    token, state = bos, s0
    found = torch.full((max_len,), -1, dtype=torch.long)
    length = 0
    while length < max_len:
        probabilities, state = step(token, state)
        winners = torch.nonzero(probabilities == torch.amax(probabilities))
        token = int(winners.min())
        found[length] = token
        length += 1
        if token == eos:
            break
    return found[:length].tolist()
