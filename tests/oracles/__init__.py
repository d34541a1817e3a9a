"""Independent ways to the same numbers: they share no code with ``reference`` or ``engine``."""
