"""Proof packs: commands."""
