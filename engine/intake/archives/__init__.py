"""ZIP and tar archives, also inside one another → entries; nothing is written outside the work folder."""

from engine.intake.archives.limits import ArchiveLimits
from engine.intake.archives.unpack import read_source

__all__ = ["ArchiveLimits", "read_source"]
