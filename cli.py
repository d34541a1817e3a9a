"""The entry point ``grade``: hands over to :mod:`engine.commands`."""

from engine.commands import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
