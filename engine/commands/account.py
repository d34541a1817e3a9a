"""Who is at the keyboard, for records of who decided something."""

from __future__ import annotations

__all__ = ["decider"]


def decider(by: str | None) -> str:
    """Return the name that ``--by`` gives, or else this account's."""
    import getpass

    from engine.errors import UsageError
    from engine.foreign import clean_line

    if by is None:
        try:
            return getpass.getuser()
        except (OSError, KeyError):  # a container without that account
            return "unknown"
    if not by.strip() or clean_line(by, 100) != by:
        raise UsageError("--by can't be used", expected="a name of 1 to 100 characters", got=repr(by[:100]))
    return by
