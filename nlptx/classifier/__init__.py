"""The classifier: its network, its file format, scoring of texts, and explanations of predictions."""
