import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    state = s0
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, state = step(tokens[-1] if tokens else bos, state)
            for y, p in enumerate(P.tolist()):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), state))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]
