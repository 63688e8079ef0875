"""Comparisons of runs: figures."""
