"""Backups and moves: use cases."""
