"""Results of commands, as lines of plain text, tables, JSON or HTML pages."""
