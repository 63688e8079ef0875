"""The command line ``relevansi``: exit 0 done, 1 could not, 2 wrong usage."""

from relevansi.cli.frame.commands import run

__all__ = ["run"]
