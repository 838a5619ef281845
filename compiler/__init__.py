"""The compiler: typed program → program, and traces → better program."""
