"""Faults made on purpose, with a count of what was acknowledged and what was found."""
