"""The options of all stages, defined in a single place.

The command line derives its options from these classes, the library functions take them as arguments, and each artifact
stores the settings with which it was made.
"""

from nlptx.settings.declaration import GROUPS, MAIN, Settings, check_value, stored_value
from nlptx.settings.stages import (
    AUTOMATIC,
    CHECKPOINT_MINUTES,
    DEFAULT_MEMORY,
    MIN_MEMORY,
    SEED,
    SIMILARITY,
    CountSettings,
    NetworkSettings,
    PcaSettings,
    TrainSettings,
)

__all__ = [
    "AUTOMATIC",
    "CHECKPOINT_MINUTES",
    "DEFAULT_MEMORY",
    "GROUPS",
    "MAIN",
    "MIN_MEMORY",
    "SEED",
    "SIMILARITY",
    "CountSettings",
    "NetworkSettings",
    "PcaSettings",
    "Settings",
    "TrainSettings",
    "check_value",
    "stored_value",
]
