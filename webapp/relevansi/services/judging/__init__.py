"""Verdicts and the things they judge: use cases."""
