"""Runs of a chatbot: use cases."""
