import torch


def greedy_decode(step, s0, bos, eos, max_len):
    def go(y, s, left):
        if left == 0:
            return ()
        P, s = step(y, s)
        _, order = torch.sort(P, descending=True, stable=True)
        y = order.tolist()[0]
        return (y,) if y == eos else (y, *go(y, s, left - 1))

    return list(go(bos, s0, max_len))
