"""Proof packs: what is read from files."""
