"""Checks of the metrics core."""
