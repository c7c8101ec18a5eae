"""Workers, memory that processes share, and ordering of integers."""
