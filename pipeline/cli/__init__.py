"""The command line: one file per command. Each parses, calls a stage and prints; none decides anything."""
