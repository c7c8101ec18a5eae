"""The command line. Each command has a module in :mod:`nlptx.cli.commands`.

The other packages, each of which may import only those before it:

- ``terminal``: notes, errors, progress, tables and charts, the standard streams, and signals such as Ctrl-C.
- ``options``: options that several commands share, and the rules for options that are set in several places.
- ``results``: results as lines of text, tables, JSON and HTML pages.
- ``steps``: steps that several commands have in common, and long steps of single commands.
- ``cluster``: commands with ``--cluster``.
"""
