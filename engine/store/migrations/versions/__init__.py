"""Revisions of the store's schema, oldest first."""
