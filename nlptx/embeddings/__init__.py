"""Word vectors, their file, the word2vec text format, and a map of them."""
