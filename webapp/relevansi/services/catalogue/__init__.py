"""What could have been returned, to be looked up: use cases."""
