"""Keys that somebody typed: which of them the numbers of the text give, and by which expression."""
