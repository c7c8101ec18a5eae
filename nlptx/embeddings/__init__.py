"""Word vectors: their artifact, the word2vec text format, and a two-dimensional map of similar words."""
