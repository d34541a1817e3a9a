"""What authors of code exercises import: see docs/writing-code-exercises.md."""
