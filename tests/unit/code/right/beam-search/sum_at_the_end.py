import functools
import math
import operator


def beam_search(step, s0, b, bos, eos, max_len):
    """Keeps the list of all step probabilities of each hypothesis and sums their logarithms."""
    if b < 1:
        raise ValueError("a beam of size %d can't hold anything" % b)

    def total(entry):
        return functools.reduce(operator.add, map(math.log, entry["p"]), 0.0)

    def order(entry):
        return (-total(entry), entry["tokens"])

    beam = [{"tokens": [], "p": [], "s": s0}]
    t = 0
    while t < max_len:
        running = [entry for entry in beam if entry["tokens"][-1:] != [eos]]
        if len(running) == 0:
            break
        grown = [entry for entry in beam if entry["tokens"][-1:] == [eos]]
        for entry in running:
            P, s = step(([bos] + entry["tokens"])[-1], entry["s"])
            for y, p in enumerate(P):
                p = float(p)
                if p != 0.0:
                    grown.append({"tokens": entry["tokens"] + [y], "p": entry["p"] + [p], "s": s})
        beam = sorted(grown, key=order)[:b]
        t += 1
    return [(entry["tokens"], total(entry)) for entry in beam]
