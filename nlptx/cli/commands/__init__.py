"""The commands. Each module has the name of its command, reads the options, and calls the library."""
