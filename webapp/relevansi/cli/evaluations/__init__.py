"""Evaluations of files: commands."""
