# tries: return text with lone surrogates, NUL bytes and terminal escapes
# stopped by: decoder
# expect: returned unsupported raised
# proof: malformed
# control: status


def softmax(x, axis=-1):
    return ["\ud800\udfff", "\x00" * 100, "\x1b[2J\x1b]0;title\x07", "\u202e"]
