"""Word vectors: the artifact that stores them, the word2vec text format, and a two-dimensional map of words."""
