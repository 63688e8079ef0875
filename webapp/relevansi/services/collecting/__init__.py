"""Collecting a chatbot's answers: use cases."""
