"""Converts inputs of every format to one stream of documents, each of which records its position in the input.

files, folders, archives, stdin  --sources-->  byte streams  --formats, tables-->  Document
"""
