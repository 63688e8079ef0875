"""Evaluations of files: use cases."""
