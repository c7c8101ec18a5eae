"""Stage 2: co-occurrence counts become word vectors, by principal component analysis of a sparse matrix."""
