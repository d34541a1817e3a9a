"""Filled-in sheets and scanners that are simulated."""
