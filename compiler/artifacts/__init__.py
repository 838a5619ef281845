"""The nouns: graph, plan, profile, bundle; each with its text form, JSON form and verifier."""
