"""Exams on paper: quizzes typeset as PDF, with answer sheets whose every position is written down.

:mod:`engine.scanning` reads the sheets again.
"""
