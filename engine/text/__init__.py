"""Text in and out: bounded reading, tables, YAML with places, escapes, words for people, saves.

Nothing here knows of courses or items; all other packages may use it.
"""
