"""Exports: commands."""
