import torch


def greedy_decode(step, s0, bos, eos, max_len):
    decoder_input = bos
    decoder_hidden = s0
    decoded_words = []
    for di in range(max_len):
        decoder_output, decoder_hidden = step(decoder_input, decoder_hidden)
        topv, topi = decoder_output.max(dim=0)
        decoded_words.append(int(topi))
        if int(topi) == eos:
            break
    return decoded_words
