import torch


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    while True:
        unfinished = [h for h in beam if not h[0] or h[0][-1] != eos]
        if not unfinished or max(len(h[0]) for h in beam) == max_len:
            return [(tokens, logprob) for tokens, logprob, _ in beam]
        candidates = [h for h in beam if h[0] and h[0][-1] == eos]
        for tokens, logprob, s in unfinished:
            P, s_new = step(tokens[-1] if tokens else bos, s)
            logs = torch.log(P.double()).tolist()
            candidates += [(tokens + [y], logprob + l, s_new) for y, l in enumerate(logs) if l != -torch.inf]
        beam = sorted(candidates, key=lambda h: (-h[1], h[0]))[:b]
