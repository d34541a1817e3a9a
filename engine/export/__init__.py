"""Quizzes for learning systems: drawn variants in the formats that other platforms read.

There is one model of an exported question, from which every format is written; each file of ``formats/``
writes one format and says what that format can't carry.
"""
