"""Graph → plan: which steps share a thread, which are replicated, and why."""
