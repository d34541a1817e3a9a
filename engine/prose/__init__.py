"""Stems to plain text, HTML and LaTeX: templates, Markdown, formulas and pictures."""
