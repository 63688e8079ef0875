"""The command ``relevansi``, also ``python -m webapp``."""

from __future__ import annotations


def main() -> None:
    """Run the command line; it ends the process with its exit code."""
    from webapp.app import main as run  # late, so that importing this module is free

    run()


if __name__ == "__main__":
    main()
