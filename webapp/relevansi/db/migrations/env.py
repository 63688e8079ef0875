"""Runs the migrations on the connection it is handed."""

from alembic import context

from relevansi.db.tables.base import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    compare_type=True,
)
with context.begin_transaction():
    context.run_migrations()
