"""Exports: use cases."""
