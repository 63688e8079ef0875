"""The study: commands."""
