"""The small language of keys: grammar, evaluation, exact values, rounding, its functions."""
