"""Rating: use cases."""
