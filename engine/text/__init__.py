"""Text in and out: bounded reading, tables, YAML with places, escapes, words for people."""
