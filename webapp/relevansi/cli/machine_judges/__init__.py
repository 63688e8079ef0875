"""Machine judges: commands."""
