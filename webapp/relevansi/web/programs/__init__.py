"""What programs use: addresses under /api/v1, their description, tokens."""
