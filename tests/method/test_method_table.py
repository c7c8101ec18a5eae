"""The tests in tests/method/ cover exactly the rows and the faults that the tables in its README.md list."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
TABLE = (FOLDER / "README.md").read_text(encoding="utf-8")
ROWS = {int(row[1]): set(re.findall(r"\]\((.+?)\)", row[2])) for row in re.finditer(r"(?m)^\| (\d+) (\|.*)$", TABLE)}
TESTS = {
    (path.name, name)
    for path in FOLDER.glob("test_method_*.py")
    for name in re.findall(r"(?m)^def (test_\w+)", path.read_text(encoding="utf-8"))
}


def test_the_table_has_21_rows():
    assert list(ROWS) == list(range(1, 22))


@pytest.mark.parametrize("row", ROWS)
def test_every_row_has_tests_in_exactly_the_files_it_names(row):
    assert ROWS[row] == {file for file, name in TESTS if name.startswith(f"test_row_{row:02}_")}


def test_every_fault_has_its_test_and_every_test_its_fault():
    assert set(re.findall(r"`(test_fault_\w+)`", TABLE)) == {
        name for _, name in TESTS if name.startswith("test_fault_")
    }
