"""Turns text into word ids: the tokenizer, the vocabulary, and a scanner that tokenizes large blocks of text."""
