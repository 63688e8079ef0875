"""Raters and the owner: use cases."""
