"""The steps from one shape of the tables to the next, oldest first in ``versions/``."""

HEAD = "0026"
"""The version of the tables that this program reads and writes."""
