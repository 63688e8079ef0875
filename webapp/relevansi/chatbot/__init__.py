"""The chatbot under test: the client that asks it, and a small one of our own in `demo`."""
