import heapq
import math


def beam_search(step, s0, b, bos, eos, max_len):
    if b < 1:
        raise ValueError(b)
    done = []
    alive = [(0.0, [], s0)]
    length = 0
    while alive and length < max_len:
        pool = [(cost, tokens, None) for cost, tokens in done]
        for cost, tokens, state in alive:
            P, following = step((tokens or [bos])[-1], state)
            pool += [
                (cost - math.log(p), [*tokens, y], following) for y, p in enumerate(map(float, P)) if p > 0.0
            ]
        kept = heapq.nsmallest(b, pool, key=lambda entry: entry[:2])
        done = [(cost, tokens) for cost, tokens, _ in kept if tokens[-1] == eos]
        alive = [entry for entry in kept if entry[1][-1] != eos]
        length += 1
    everything = done + [(cost, tokens) for cost, tokens, _ in alive]
    return [(tokens, -cost) for cost, tokens in sorted(everything)]
