"""The steps from one shape of the tables to the next, oldest first in ``versions/``."""

HEAD = "0044"
"""The version of the tables that this program reads and writes."""

FIRST_RELEASE = "0017"
"""The version of the tables of 1.0.0: the oldest that can be upgraded."""
