"""What a run did, seen afterwards: its figures and its page."""
