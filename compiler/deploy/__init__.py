"""Deployment on a cloud: which alternates, which virtual machines, which element on which core (004 §2–§8)."""
