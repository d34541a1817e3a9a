"""Run the migrations on the connection that the store hands over, inside its transaction."""

from __future__ import annotations

from alembic import context

from engine.store.sql_tables import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
