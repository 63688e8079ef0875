"""Runs of a chatbot: figures."""
