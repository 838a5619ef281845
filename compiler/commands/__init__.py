"""One file a command of `dfc`: each has `run(args) -> exit code` and imports what it needs, no more."""
