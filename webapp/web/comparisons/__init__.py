"""Comparisons of runs: pages."""
