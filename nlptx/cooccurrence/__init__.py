"""Stage 1: text becomes a sparse matrix of word co-occurrence counts."""
