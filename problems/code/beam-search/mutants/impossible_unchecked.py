import math

import numpy as np


def _search(step, s0, b, bos, eos, max_len, log):
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + log(p), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def _infinite(p):
    return math.log(p) if p > 0 else -math.inf


def beam_search(step, s0, b, bos, eos, max_len):
    return _search(step, s0, b, bos, eos, max_len, _infinite)


def beam_search_raising(step, s0, b, bos, eos, max_len):
    return _search(step, s0, b, bos, eos, max_len, math.log)


def beam_search_cut(step, s0, b, bos, eos, max_len):
    return _search(step, s0, b, bos, eos, max_len, lambda p: math.log(max(p, 1e-12)))


def beam_search_added(step, s0, b, bos, eos, max_len):
    return _search(step, s0, b, bos, eos, max_len, lambda p: math.log(p + 1e-12))


def beam_search_arrays(step, s0, b, bos, eos, max_len):
    with np.errstate(divide="ignore"):
        return _search(step, s0, b, bos, eos, max_len, lambda p: float(np.log(p)))
