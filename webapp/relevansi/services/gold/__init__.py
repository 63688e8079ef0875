"""Gold questions and constraints: use cases."""
