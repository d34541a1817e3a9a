import math
from collections import namedtuple

Hypothesis = namedtuple("Hypothesis", "negative_log tokens state")


def children(hypothesis, step, bos):
    P, state = step(hypothesis.tokens[-1] if hypothesis.tokens else bos, hypothesis.state)
    for token in range(len(P)):
        probability = float(P[token])
        if probability == 0:
            continue
        yield Hypothesis(hypothesis.negative_log - math.log(probability), hypothesis.tokens + [token], state)


def beam_search(step, s0, b, bos, eos, max_len):
    if b <= 0:
        raise ValueError("beam width")
    beam = [Hypothesis(0.0, [], s0)]
    for _step in range(max_len):
        finished = [h for h in beam if eos in h.tokens]
        open_ones = [h for h in beam if eos not in h.tokens]
        if not open_ones:
            break
        everything = finished
        for h in open_ones:
            everything = everything + list(children(h, step, bos))
        beam = sorted(everything, key=lambda h: (h.negative_log, h.tokens))[:b]
    return [(h.tokens, -h.negative_log) for h in beam]
