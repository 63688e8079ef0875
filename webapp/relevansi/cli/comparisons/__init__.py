"""Comparisons of runs: commands."""
