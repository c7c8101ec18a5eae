"""Converts inputs of every format to one stream of documents, each of which records its position in the input.

The names in the arrows are those of the modules:

files, folders, archives, stdin  --sources-->  byte streams  --formats, tables-->  Document
"""
