"""What a student who reads the stem and the lecture works out, item by item.

Plain Python on the drawn decimals: no torch, no reference, and nothing of the files' key expressions.
"""
