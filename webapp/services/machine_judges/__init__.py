"""Machine judges: use cases."""
