"""Stage 3: labelled texts and word vectors become a trained model. Nothing here prints."""
