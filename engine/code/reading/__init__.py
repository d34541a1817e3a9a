"""A submission's source, read and never run: syntax, functions, cells, forbidden calls."""
