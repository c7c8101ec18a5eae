"""Workers, memory shared by processes, and radix sort."""
