"""Stage 3: train a model from labelled texts and word vectors. Nothing in this package prints."""
