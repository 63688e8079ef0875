"""Proof packs: figures."""
