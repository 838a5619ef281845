"""Plan → C, header and controller configuration."""
