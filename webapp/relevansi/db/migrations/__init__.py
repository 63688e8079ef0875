"""The steps from one shape of the tables to the next, oldest first in ``versions/``."""

HEAD = "0044"
"""The version of the tables that this program reads and writes."""

OLDEST = "0029"
"""The version of the tables of 1.1.0: the oldest that can be upgraded."""
