"""Verdicts and what they are about: figures."""
