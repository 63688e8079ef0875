"""A study planned: its size, its settled orders, its next questions, its sample."""
