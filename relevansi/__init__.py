"""Relevansi in a notebook: ``relevansi.open`` and ``relevansi.connect`` return a study."""

from webapp.notebook import RelevansiError, Study, connect, open  # noqa: A004

__all__ = ["RelevansiError", "Study", "connect", "open"]
