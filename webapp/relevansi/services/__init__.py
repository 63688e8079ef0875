"""The use cases. Each takes the session first, changes rows, and never commits."""
