"""The study: use cases."""
