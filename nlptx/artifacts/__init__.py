"""Artifacts: the files that counting, PCA and training write. This package reads, checks and writes them."""
