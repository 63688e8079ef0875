"""Phase 3: real users rate their own questions: use cases."""
