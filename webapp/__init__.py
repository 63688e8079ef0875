"""Relevansi: judge what a chatbot retrieved and get figures that survive an examiner."""
