"""Evaluations of files: what is read from files."""
