"""Collecting a chatbot's answers: what is written to files."""
