"""The options of all stages, each defined in a single place: as a field of a settings class.

The command line derives its options from these classes, library functions take instances of them as arguments, and
each artifact stores the settings with which it was made.
"""

from nlptx.settings.declaration import GROUPS, MAIN, Settings, check_value, stored_value
from nlptx.settings.defaults import CHECKPOINT_MINUTES, DEFAULT_MEMORY, MIN_MEMORY, SEED, SIMILARITY
from nlptx.settings.training import AUTOMATIC, NetworkSettings, TrainSettings
from nlptx.settings.word_vectors import CountSettings, PcaSettings

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
