"""The pages: each view reads the request, calls one service and answers."""
