"""Runs work on the machines of a cluster. The results have the same bytes as on a single machine."""
