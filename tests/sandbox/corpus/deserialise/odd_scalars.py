# tries: scalars of many odd kinds in one tuple
# stopped by: decoder
# expect: unsupported
# proof: malformed
# control: status

import decimal
import fractions


def softmax(x, axis=-1):
    return (1j, fractions.Fraction(1, 3), decimal.Decimal("1e999999"), ..., NotImplemented, type, slice(1))
