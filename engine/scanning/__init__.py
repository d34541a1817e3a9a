"""Scanned answer sheets become responses; what can't be read for certain is left to a person."""
