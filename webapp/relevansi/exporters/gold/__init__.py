"""Gold questions and constraints: what is written to files."""
