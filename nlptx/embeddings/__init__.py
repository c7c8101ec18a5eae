"""Word vectors: their artifact, the word2vec text format, and a map of similar words."""
