"""Proof packs: pages."""
