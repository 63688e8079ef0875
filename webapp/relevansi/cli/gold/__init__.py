"""Gold questions and constraints: commands."""
