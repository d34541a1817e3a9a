def greedy_decode(step, s0, bos, eos, max_len):
    """Plain Python: works for anything one can iterate over."""
    result = []
    token, state = bos, s0
    finished = False
    while not finished and len(result) < max_len:
        probabilities, state = step(token, state)
        best, best_probability = 0, -1.0
        for index, probability in enumerate(probabilities):
            if probability > best_probability:  # > and not >=: the first one wins a tie
                best, best_probability = index, probability
        token = best
        result.append(token)
        finished = token == eos
    return result
