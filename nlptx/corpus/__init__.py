"""Converts inputs of every format to one stream of documents, each of which records its position in the input.

Each arrow contains the names of the modules that do the conversion:

files, folders, archives, stdin  --opening-->  byte streams  --lines, tables-->  Document
"""
