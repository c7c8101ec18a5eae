"""Work on the machines of a cluster, with the bytes of a single machine."""
