"""Backups and moves: commands."""
