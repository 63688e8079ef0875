"""Gold questions and constraints: what is read from files."""
