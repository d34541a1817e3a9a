# tries: raise SystemExit(0)
# stopped by: fork
# expect: raised
# proof: none
# control: status

import sys


def softmax(x, axis=-1):
    sys.exit(0)
