import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("the beam needs at least one place")
    # a hypothesis: (tokens, logprob, state, finished)
    beam = [([], 0.0, s0, False)]
    for _ in range(max_len):
        if all(finished for _, _, _, finished in beam):
            break
        candidates = []
        for tokens, logprob, state, finished in beam:
            if finished:
                candidates.append((tokens, logprob, state, True))
                continue
            last = tokens[-1] if tokens else bos
            P, new_state = step(last, state)
            for y in range(len(P)):
                if P[y] > 0:
                    candidates.append(
                        (tokens + [y], logprob + float(np.log(float(P[y]))), new_state, y == eos)
                    )
        candidates.sort(key=lambda h: (-h[1], h[0]))
        beam = candidates[:b]
    return [(tokens, logprob) for tokens, logprob, _, _ in beam]
