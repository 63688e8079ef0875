"""Proof packs: use cases."""
