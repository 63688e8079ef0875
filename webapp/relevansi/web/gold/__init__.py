"""Gold questions and constraints: pages."""
