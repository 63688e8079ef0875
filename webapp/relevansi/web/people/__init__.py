"""Raters and the owner: pages."""
