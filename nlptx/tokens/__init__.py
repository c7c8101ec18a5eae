"""Texts as numbers: blocks of lines, the tokens in their bytes, a number for each word, a stream of them."""
