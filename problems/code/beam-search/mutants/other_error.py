import math


def right(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError(f"the beam width is {b}")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:  # finished: stays and competes
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search(step, s0, b, bos, eos, max_len):
    try:
        return right(step, s0, b, bos, eos, max_len)
    except ValueError as error:
        raise AssertionError(str(error)) from None
