"""Evaluations of files: figures."""
