"""The command line. Each command has a module with the same name, which reads the options and calls the library."""
