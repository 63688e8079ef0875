"""Comparisons of runs: what is written to files."""
