"""The commands that can use a cluster (``--cluster``)."""
