"""Runs of a chatbot: commands."""
