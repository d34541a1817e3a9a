"""The class that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.durability.classroom import Classroom
from tests.durability.disturbed import Class
from tests.durability.graders import graders


@pytest.fixture(scope="session")
def a_class(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """A class, graded once without any disturbance."""
    room = Classroom.make(tmp_path_factory.mktemp("d"))
    with graders(room.folder, room.command("--workers", 2)[1:]) as running:
        yield Class(room, running)
