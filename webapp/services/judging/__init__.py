"""Verdicts and what they are about: use cases."""
