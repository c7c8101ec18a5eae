"""Counts the faults, runs and compared bytes of the torture tests, and formats them as a table."""

from collections import defaultdict

COLUMNS = ("faults injected", "survived", "runs", "bytes compared")
_KEY = "tally"


class Tally:
    """The counts of one test, stored in the report of the test, which xdist workers send to the main process."""

    def __init__(self, request, item):
        self.counts = dict.fromkeys(COLUMNS, 0) | {"item": item}
        request.node.user_properties.append((_KEY, self.counts))

    def injected(self):
        self.counts["faults injected"] += 1

    def survived(self):
        """Count a fault after which all checks passed."""
        self.counts["survived"] += 1

    def ran(self):
        self.counts["runs"] += 1

    def note(self, text):
        """Add a measurement to the notes below the table."""
        self.counts.setdefault("notes", []).append(text)

    def same(self, one, other, what=""):
        """Fail unless both byte strings are equal; add their length to the number of compared bytes."""
        assert one == other, f"{what}: {len(one):,} and {len(other):,} bytes differ"
        self.counts["bytes compared"] += len(one)


def table(reports):
    """Return the lines of the table, with one row per item, followed by the notes."""
    notes = []
    rows = defaultdict(lambda: dict.fromkeys((*COLUMNS, "tests", "seconds"), 0))
    for report in reports:
        for name, counts in getattr(report, "user_properties", ()):
            if name == _KEY and report.when == "call":
                row = rows[counts["item"]]
                for column in COLUMNS:
                    row[column] += counts[column]
                row["tests"] += 1
                notes += [f"{counts['item']}: {note}" for note in counts.get("notes", ())]
                row["seconds"] += report.duration
    if not rows:
        return []
    columns = ("tests", *COLUMNS, "seconds")
    lines = [("item", *columns)]
    lines += [(item, *(f"{round(row[column]):,}" for column in columns)) for item, row in sorted(rows.items())]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return ["  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]) for line in lines] + notes
