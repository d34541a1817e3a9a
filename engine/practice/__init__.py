"""Practice on one's own machine: starter files, regrading on every save, hints; nothing is recorded.

Import from the modules: :mod:`~engine.practice.session` loads all of code grading, the others are light.
"""
