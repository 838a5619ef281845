"""The language: from text to a typed program."""
