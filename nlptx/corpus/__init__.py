"""Every input format becomes one stream of documents that know where they came from.

files, folders, archives, stdin  --sources-->  byte streams  --formats-->  Document
"""
