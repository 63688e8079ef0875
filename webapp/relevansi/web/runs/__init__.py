"""Runs of a chatbot: pages."""
