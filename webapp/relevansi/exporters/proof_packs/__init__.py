"""Proof packs: what is written to files."""
