"""Checks of what leaves the product."""
