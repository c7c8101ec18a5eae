"""The command line: one file per command, each a thin wrapper around one library call."""
