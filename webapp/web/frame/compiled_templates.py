"""Templates compiled once: their code is kept in a folder, so that a later start need not wait."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from pickle import UnpicklingError

from jinja2 import FileSystemBytecodeCache
from jinja2.bccache import Bucket

from webapp.config import new_private_folder


class CompiledTemplates(FileSystemBytecodeCache):
    """The code of templates in a folder, until their source changes.

    Where the folder cannot be used, or a file in it is cut off, templates are compiled anew.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder), f"%s.jinja-{version('jinja2')}")

    def get_cache_key(self, name: str, filename: str | None = None) -> str:  # noqa: ARG002
        """Return the key of a template, the same wherever the program is installed."""
        return super().get_cache_key(name)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the code of a template, if it is there."""
        try:
            super().load_bytecode(bucket)
        except (OSError, EOFError, UnpicklingError):
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        with suppress(OSError):
            new_private_folder(Path(self.directory))
            super().dump_bytecode(bucket)
