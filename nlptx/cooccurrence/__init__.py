"""Stage 1: turns text into a sparse matrix of word co-occurrence counts."""
