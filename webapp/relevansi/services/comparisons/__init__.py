"""Comparisons of runs: use cases."""
