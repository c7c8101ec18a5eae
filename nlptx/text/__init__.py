"""Text becomes word ids: the tokenizer, the vocabulary, and a scanner that tokenizes large blocks at once."""
