import numpy as np


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b < 1")
    beam = {(): (0.0, s0)}  # tokens -> (logprob, state)
    for _ in range(max_len):
        new = {}
        for tokens, (logprob, state) in beam.items():
            if tokens and tokens[-1] == eos:
                new[tokens] = (logprob, state)
            else:
                y = tokens[-1] if tokens else bos
                P, s = step(y, state)
                with np.errstate(divide="ignore"):
                    logs = np.log(np.array(P, dtype=float))
                for y, log_p in enumerate(logs):
                    new[tokens + (y,)] = (logprob + log_p, s)
        possible = [item for item in new.items() if item[1][0] > -np.inf]
        possible = sorted(possible, key=lambda item: (-item[1][0], list(item[0])))
        beam = dict(possible[:b])
        if all(tokens[-1] == eos for tokens in beam):
            break
    return [(list(tokens), float(logprob)) for tokens, (logprob, _) in beam.items()]
