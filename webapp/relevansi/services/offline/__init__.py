"""The one-file page that works without a server: use cases."""
