from itertools import islice


def tokens(step, state, token, eos):
    while True:
        P, state = step(token, state)
        P = P.tolist()
        token = P.index(max(P))
        yield token
        if token == eos:
            return


def greedy_decode(step, s0, bos, eos, max_len):
    return list(islice(tokens(step, s0, bos, eos), max_len))
