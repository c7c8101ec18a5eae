"""Inputs of every format become one stream of documents, each with its position in the input.

files, folders, archives, stdin  --sources-->  byte streams  --formats-->  Document
"""
