"""Exports: what is written to files."""
