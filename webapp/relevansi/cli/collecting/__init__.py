"""Collecting a chatbot's answers: commands."""
