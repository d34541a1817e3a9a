"""Stores of every earlier schema are brought up to date with what is in them, on both kinds of database."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory

import engine.store.database as database
import engine.store.migrations
from engine.errors import StoreError
from engine.model import GradeReport, Mode, Outcome, Part, Quiz, QuizQuestion, RenderedText, Response, Variant
from engine.store import Attempt, HandMark, open_store
from engine.store.sql_tables import SCHEMA_VERSION, VERSION_TABLE, encode, metadata
from tests.live.postgres import server
from tests.new_stores import migrate, replayed

NOW = datetime(2025, 10, 26, 0, 30, tzinfo=UTC)
VARIANT = Variant(
    "v1", "softmax-weights", "it1", "Title", RenderedText("s", "s", "s"), (Part("answer", "number", 2.0),)
)
QUIZ = Quiz("q1", "week-1", "Week 1 ü", "007", (QuizQuestion(1, VARIANT, 2.0),))
REPORT = GradeReport("softmax-weights", "it1", Outcome.PARTIAL, 1.5, 2.0, mode=Mode.MARKS, tier="T1")
ANSWER = Attempt(
    "007", "a" * 64, REPORT, NOW, NOW, VARIANT, Response({"answer": "½"}), quiz="q1", filename="ä.yaml"
)


@pytest.fixture(autouse=True)
def real_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests' new stores are made without them."""
    monkeypatch.setattr(database, "_upgrade", migrate)


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    return server().new_database() if request.param == "postgresql" else str(tmp_path / "store.db")


def connect(target: str) -> sa.Engine:
    if "://" in target:
        return sa.create_engine(target.replace("postgresql:", "postgresql+psycopg:"))
    return sa.create_engine(f"sqlite:///{target}")


def config() -> Config:
    made = Config()
    made.set_main_option("script_location", str(Path(engine.store.migrations.__file__).parent))
    return made


def put(connection: sa.Connection, statement: str, **values: object) -> None:
    moment = sa.bindparam("at", NOW.replace(tzinfo=None), sa.DateTime)
    connection.execute(sa.text(statement).bindparams(moment), values)


def make_old(target: str, revision: str) -> None:
    """Make a store as it was at a revision, with a quiz and an attempt written by plain SQL."""
    database = connect(target)
    with database.begin() as connection:
        alembic = config()
        alembic.attributes["connection"] = connection
        command.upgrade(alembic, revision)
        put(
            connection,
            "INSERT INTO quizzes VALUES ('q1', '007', 'week-1', 'Week 1 ü', 0, :at, :quiz)",
            quiz=encode(QUIZ),
        )
        row = {
            "student": "007", "item": "softmax-weights", "submission": "a" * 64, "mode": "marks",
            "item_version": "it1", "quiz_id": "q1", "variant_id": "v1", "variant": encode(VARIANT),
            "response": encode(ANSWER.response), "filename": "ä.yaml", "outcome": "partial", "score": 1.5,
            "max_score": 2.0, "report": encode(REPORT), "tier": "T1", "engine_version": "0.1.0",
        }  # fmt: skip
        values = ", ".join(f":{name}" for name in row)
        put(
            connection,
            f"INSERT INTO attempts ({', '.join(row)}, started, finished) VALUES ({values}, :at, :at)",
            **row,
        )
        if revision >= "0002":
            put(connection, "INSERT INTO quiz_hints VALUES ('q1', '007', 1, 'marks', 1, :at)")
            put(
                connection,
                "INSERT INTO quiz_retries VALUES ('q1', '007', 1, 1, :at, :variant)",
                variant=encode(VARIANT),
            )
    database.dispose()


def version(target: str) -> str:
    database = connect(target)
    with database.connect() as connection:
        found = connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalar()
    database.dispose()
    return str(found)


EARLIER = [s.revision for s in ScriptDirectory.from_config(config()).walk_revisions()][::-1][:-1]


def test_the_newest_revision_is_the_schema() -> None:
    assert ScriptDirectory.from_config(config()).get_current_head() == SCHEMA_VERSION
    assert EARLIER[:2] == ["0001", "0002"]


@pytest.mark.parametrize("revision", EARLIER)
def test_an_old_store_keeps_all_that_is_in_it(empty: str, revision: str) -> None:
    make_old(empty, revision)
    assert version(empty) == revision
    with open_store(empty) as store:
        assert store.load_quiz("q1", "007") == QUIZ
        assert list(store.attempts()) == [ANSWER]
        assert store.sittings.hints(QUIZ, Mode.MARKS) == ({1: 1} if revision >= "0002" else {})
        assert store.sittings.retries(QUIZ) == ({1: 1} if revision >= "0002" else {})
        store.hand_marks.add(HandMark("007", "week-1/softmax-weights", 2.0, False, "", "prof", NOW))
        store.sittings.take_hint(QUIZ, 1, Mode.MARKS, 2)
        changed = Attempt("007", "a" * 64, GradeReport("softmax-weights", "it2", Outcome.RIGHT, 2.0, 2.0,
                          mode=Mode.MARKS), NOW, NOW, VARIANT, quiz="q1")  # fmt: skip
        assert store.regrades.replace([(ANSWER, changed)], run="r", by="prof", at=NOW, cause="key") == []
        assert [attempt.report.score for attempt in store.attempts()] == [2.0]
    assert version(empty) == SCHEMA_VERSION


def test_a_migration_that_fails_leaves_the_old_store(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make_old(empty, "0001")
    from alembic import op

    def fail(*_: object, **__: object) -> None:
        raise sa.exc.OperationalError("create", {}, Exception("the power went"))

    with monkeypatch.context() as patch:
        patch.setattr(op, "add_column", fail)  # 0002 is through by then
        with pytest.raises(StoreError):
            open_store(empty)
    assert version(empty) == "0001"
    with open_store(empty) as store:
        assert list(store.attempts()) == [ANSWER]


def test_migrations_give_the_tables_that_are_defined(empty: str, tmp_path: Path) -> None:
    open_store(empty).close()
    fresh = server().new_database() if "://" in empty else str(tmp_path / "fresh.db")
    migrated, defined = connect(empty), connect(fresh)
    metadata.create_all(defined)

    def shape(database: sa.Engine) -> dict[str, object]:
        inspector = sa.inspect(database)
        return {
            name: (
                # an added column stands at the end
                sorted((c["name"], str(c["type"]), c["nullable"]) for c in inspector.get_columns(name)),
                inspector.get_pk_constraint(name),
                sorted(inspector.get_unique_constraints(name), key=str),
                sorted(inspector.get_indexes(name), key=str),
                sorted(inspector.get_foreign_keys(name), key=str),
                sorted(
                    (c["name"], " ".join(c["sqltext"].split())) for c in inspector.get_check_constraints(name)
                ),
            )
            for name in metadata.tables
        }

    assert shape(migrated) == shape(defined)
    migrated.dispose()
    defined.dispose()


def test_the_new_stores_of_other_tests_are_migrated_ones(tmp_path: Path) -> None:
    made = {}
    for name, upgrade in (("migrated", migrate), ("first", replayed), ("later", replayed)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(database, "_upgrade", upgrade)
            open_store(tmp_path / name).close()
        opened = connect(str(tmp_path / name))
        with opened.begin() as connection:
            tables = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master")
            made[name] = {tuple(row) for row in tables}, version(str(tmp_path / name))
        opened.dispose()
    assert made["migrated"] == made["first"] == made["later"]
    assert len(made["later"][0]) > 40


def test_a_store_of_a_newer_version_is_refused_and_left_as_it_is(empty: str) -> None:
    open_store(empty).close()
    database = connect(empty)
    with database.begin() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    database.dispose()
    with pytest.raises(StoreError, match="newer Softmark") as caught:
        open_store(empty)
    assert caught.value.got == "schema 9999"
    assert version(empty) == "9999"


def test_another_programs_database_is_refused(empty: str) -> None:
    database = connect(empty)
    with database.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE cats (name TEXT)")
    with pytest.raises(StoreError, match="belongs to another program"):
        open_store(empty)
    assert sa.inspect(database).get_table_names() == ["cats"]
    database.dispose()


def test_processes_may_make_the_same_store_at_once(empty: str) -> None:
    code = "import sys; from engine.store import open_store; open_store(sys.argv[1]).close(); print('made')"
    made = [
        subprocess.Popen([sys.executable, "-c", code, empty], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0] for process in made] == ["made\n"] * 3
