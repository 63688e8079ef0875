"""Long work beside the requests: pages."""
