"""Raters and the owner: commands."""
