"""A program that runs, seen from outside: asking it over its socket, and showing what it says in a terminal."""
