"""The steps from one shape of the tables to the next, oldest first in ``versions/``."""

HEAD = "0046"
"""The version of the tables that this program reads and writes."""

FORMER_TABLES = frozenset(("properties", "judged_things", "item_judgments", "item_events"))
"""The tables that a version since the oldest had, and that now are gone or have another name."""

OLDEST = "0029"
"""The version of the tables of 1.1.0: the oldest that can be upgraded."""
