"""Stage 2: turns co-occurrence counts into word vectors by principal component analysis of a sparse matrix."""
