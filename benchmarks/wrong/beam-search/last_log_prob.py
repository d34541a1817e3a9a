import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b must be at least 1")
    # (tokens, total, score of the last token, state)
    hyps = [([], 0.0, 0.0, s0)]
    for _ in range(max_len):
        if all(h[0] and h[0][-1] == eos for h in hyps):
            break
        candidates = []
        for tokens, total, last, state in hyps:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, total, last, state))
                continue
            P, nxt = step(tokens[-1] if tokens else bos, state)
            for i in range(len(P)):
                if P[i] > 0:
                    lp = math.log(P[i])
                    candidates.append((tokens + [i], total + lp, lp, nxt))
        candidates.sort(key=lambda h: (-h[2], h[0]))
        hyps = candidates[:b]
    return [(h[0], h[1]) for h in hyps]
