"""The version of nlptx. Modules import it from here, because an import from ``nlptx`` itself would be circular."""

__version__ = "0.1.0"
