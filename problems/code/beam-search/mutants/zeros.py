import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                log = math.log(p) if p > 0 else -math.inf
                candidates.append(([*tokens, y], logprob + log, s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_a(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(max(p, 1e-12)), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_raising(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_b(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(max(p, 1e-9)), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_c(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(max(p, 1e-10)), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_d(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(max(p, 1e-300)), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]


def beam_search_added(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam = [([], 0.0, s0)]
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            if tokens and tokens[-1] == eos:
                candidates.append((tokens, logprob, s))
                continue
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                candidates.append(([*tokens, y], logprob + math.log(p + 1e-12), s_new))
        beam = sorted(candidates, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in beam]
