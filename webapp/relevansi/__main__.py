"""The command ``relevansi``, also ``python -m relevansi``."""

from relevansi.app import main

if __name__ == "__main__":
    main()
