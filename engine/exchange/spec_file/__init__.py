"""Neutral questions as problem files: names, answers, and the YAML itself."""
