"""Phase 3: real users rate their own questions: what is written to files."""
