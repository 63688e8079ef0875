"""Gold questions and constraints: figures."""
