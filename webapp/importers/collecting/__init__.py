"""Collecting a chatbot's answers: what is read from files."""
