"""Runs work on the machines of a cluster.

The results have the same bytes as on a single machine, unless the machines have different processors or BLAS libraries.
In that case, the last digits of scores may differ.
"""
