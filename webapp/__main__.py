"""The command ``relevansi``, also ``python -m webapp``."""

from webapp.app import main

if __name__ == "__main__":
    main()
