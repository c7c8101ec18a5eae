"""The trained classifier: its network, its file, scores and explanations."""
