"""Runs of a chatbot: what is read from files."""
