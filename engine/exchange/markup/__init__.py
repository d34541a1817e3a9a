"""Texts of other systems into ours: foreign markup → blocks → Markdown with ``$`` formulas."""
