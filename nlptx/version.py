"""The version of nlptx. Modules import it from this file: an import from ``nlptx`` itself would be circular."""

__version__ = "0.1.0"
