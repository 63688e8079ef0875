"""Evaluations of files: what is written to files."""
