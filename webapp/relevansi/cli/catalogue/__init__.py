"""The catalogue: commands."""
