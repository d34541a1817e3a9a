import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam, finished = [([], 0.0, s0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        candidates.sort(key=lambda one: (-one[1], one[0]))
        finished += [one for one in candidates if one[0][-1] == eos]
        beam = [one for one in candidates if one[0][-1] != eos][:b]
    best = sorted(finished + beam, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in best]


def beam_search_a(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam, finished = [([], 0.0, s0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        candidates.sort(key=lambda one: (-one[1], one[0]))
        beam = []
        for one in candidates[: 2 * b]:
            if one[0][-1] == eos:
                finished.append(one)
            elif len(beam) < b:
                beam.append(one)
    best = sorted(finished + beam, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in best]


def beam_search_b(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam, finished = [([], 0.0, s0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        candidates.sort(key=lambda one: (-one[1], one[0]))
        finished += [one for one in candidates[:b] if one[0][-1] == eos]
        beam = [one for one in candidates if one[0][-1] != eos][:b]
    best = sorted(finished + beam, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in best]


def beam_search_c(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError("b")
    beam, finished = [([], 0.0, s0)], []
    for _ in range(max_len):
        candidates = []
        for tokens, logprob, s in beam:
            P, s_new = step(tokens[-1] if tokens else bos, s)
            for y, p in enumerate(P.tolist()):
                if p > 0:
                    candidates.append(([*tokens, y], logprob + math.log(p), s_new))
        candidates.sort(key=lambda one: (-one[1], one[0]))
        beam = []
        for place, one in enumerate(candidates[: 2 * b]):
            if one[0][-1] == eos:
                if place < b:
                    finished.append(one)
            elif len(beam) < b:
                beam.append(one)
    best = sorted(finished + beam, key=lambda one: (-one[1], one[0]))[:b]
    return [(tokens, logprob) for tokens, logprob, _ in best]
