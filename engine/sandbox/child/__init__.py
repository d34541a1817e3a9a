"""What runs beside student code: it imports nothing of ours but itself, and no secret ever enters it.

The folder is mounted (or named to Landlock) as a whole, so nothing else may live here.
"""

from __future__ import annotations
