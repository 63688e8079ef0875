"""The results of any search or RAG system, read into runs and grades."""
