"""Verdicts and the items they judge: use cases."""
