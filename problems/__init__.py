"""The built-in problem bank: data, no code of the engine."""
