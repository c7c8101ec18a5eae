"""The version of nlptx.

Modules import the version from this file, because an import from ``nlptx`` itself would be circular.
"""

__version__ = "0.2.0.dev0"
