"""Saves and loads quizzes and attempts: SQLite in a course folder, or PostgreSQL by URL."""

from engine.store.attempt import Attempt, BestScore, response_sha256
from engine.store.store import Store, open_store

__all__ = ["Attempt", "BestScore", "Store", "open_store", "response_sha256"]
