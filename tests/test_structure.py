"""Tests of dependencies: which module may import which, which packages are required, which imports are deferred."""

from __future__ import annotations

import ast
import configparser
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nlptx

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "nlptx"
MODULES = sorted(PACKAGE.rglob("*.py"))
NAMES = {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path for path in MODULES}
COMMAND_LINE = [path for path in MODULES if path.is_relative_to(PACKAGE / "cli")]
HEAVY = ("numpy", "scipy", "pandas")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_by(nodes: Iterable[ast.AST]) -> set[str]:
    result = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            result |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            result |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return result


@cache
def imports(path: Path, top_level_only: bool = False) -> set[str]:
    """Return the modules that a file imports at run time, without those that are only for type checkers."""
    tree = parsed(path)
    if top_level_only:
        return imported_by(node for node in tree.body if not isinstance(node, ast.If))
    conditional = {id(n) for node in tree.body if isinstance(node, ast.If) for n in ast.walk(node)}
    return imported_by(node for node in ast.walk(tree) if id(node) not in conditional)


@cache
def all_imports(path: Path) -> set[str]:
    """Return the modules that a file imports, including imports inside functions and imports for type checkers."""
    return imported_by(ast.walk(parsed(path)))


def inside(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


@pytest.mark.parametrize("path", sorted((PACKAGE / "nn").glob("*.py")), ids=lambda path: path.name)
def test_layers_import_only_numpy_and_each_other(path):
    foreign = {name for name in imports(path) if inside(name, "nlptx", *HEAVY, "click", "rich")}
    assert all(inside(name, "nlptx.nn", "numpy") for name in foreign), foreign


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_imports_click_and_rich(path):
    if path in COMMAND_LINE or path.name == "__main__.py":
        return
    imported = {name for name in imports(path) if inside(name, "click", "rich", "nlptx.cli")}
    # The estimator shows its progress in the same way as the command line.
    shared = ("nlptx.cli.terminal",) if path.parent.name == "estimator" else ()
    assert all(inside(name, *shared) for name in imported), imported


@pytest.mark.parametrize("path", COMMAND_LINE, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_commands_import_heavy_packages_only_inside_functions(path):
    assert not any(inside(name, *HEAVY, "rich") for name in imports(path, top_level_only=True))


# Parts of the package, in the order in which data flows through them. A part may import only itself and earlier parts.
PARTS = [
    "version",
    "errors",
    "arguments",
    "settings",
    "presets",
    "runtime",
    "io",
    "text",
    "artifacts",
    "corpus",
    "sampling",
    "cooccurrence",
    "embeddings",
    "pca",
    "metrics",
    "lbfgs",
    "nn",
    "ngrams",
    "regions",
    "classifier",
    "training",
    "evaluation",
    "plots",
    "experiments",
    "data_quality",
    "report",
    "cluster",
    "cli",
    "estimator",
]
# Parts of the command line, in the same order.
CLI_PARTS = ["terminal", "options", "results", "steps", "cluster", "commands"]
LOOSE = {"__init__", "__main__", "version", "presets", "errors", "lbfgs"}


def test_every_module_is_in_a_part_of_the_package():
    assert {path.stem for path in PACKAGE.glob("*.py")} == LOOSE
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(PARTS) - LOOSE


@pytest.mark.parametrize("part", sorted(set(PARTS) - LOOSE))
def test_every_package_has_a_folder_of_tests(part):
    assert any((ROOT / "tests" / part).glob("test_*.py"))


@pytest.mark.parametrize("part", PARTS)
def test_imports_follow_the_flow_of_data(part):
    later_parts = [f"nlptx.{name}" for name in PARTS[PARTS.index(part) + 1 :]]
    for path in [PACKAGE / f"{part}.py"] if part in LOOSE else (PACKAGE / part).rglob("*.py"):
        assert not {name for name in all_imports(path) if inside(name, *later_parts)}, path


def test_every_part_of_the_command_line_is_in_order():
    assert {path.parent.name for path in (PACKAGE / "cli").glob("*/__init__.py")} == set(CLI_PARTS)


@pytest.mark.parametrize("part", CLI_PARTS)
def test_parts_of_the_command_line_import_only_earlier_parts(part):
    later_parts = [f"nlptx.cli.{name}" for name in ["main", *CLI_PARTS[CLI_PARTS.index(part) + 1 :]]]
    for path in (PACKAGE / "cli" / part).glob("*.py"):
        assert not {name for name in all_imports(path) if inside(name, *later_parts)}, path


def test_there_are_no_circular_imports():
    """Imports inside functions and imports for type checkers count as imports too."""
    graph = {name: (all_imports(path) & set(NAMES)) - {name} for name, path in NAMES.items()}
    graph["nlptx"] |= {f"nlptx.{module}" for module in nlptx._MODULE_OF.values()}  # imported on first use
    TopologicalSorter(graph).prepare()


def test_scipy_is_used_for_sparse_matrices():
    """Parts of SciPy other than scipy.sparse load a second BLAS, which workers do not limit to one thread."""
    importing = {
        path
        for path in MODULES
        if any(inside(name, "scipy") and not inside(name, "scipy.sparse") for name in imports(path))
    }
    # intervals.py needs the t distribution, and worker.py reports the versions and the BLAS of NumPy and SciPy.
    assert importing == {PACKAGE / "experiments/intervals.py", PACKAGE / "cluster/worker.py"}


def test_only_data_frames_import_pandas():
    """Importing pandas takes longer than a small training run."""
    importing = {path for path in MODULES if any(inside(name, "pandas") for name in imports(path))}
    assert importing == {PACKAGE / "classifier/prediction_frame.py"}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["train", "--help"]])
def test_help_imports_no_heavy_packages(arguments):
    code = (
        "import sys; sys.argv = ['nlptx', *sys.argv[1:]]\n"
        "from nlptx.cli.main import main\n"
        "try: main()\n"
        "finally: print([m for m in ('numpy', 'scipy', 'pandas', 'rich') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"


def test_the_newest_section_of_the_changelog_is_about_this_version():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == ("Unreleased" if ".dev" in nlptx.__version__ else nlptx.__version__)


def test_the_version_is_in_the_metadata():
    setupcfg = pytest.importorskip("setuptools.config.setupcfg")
    assert setupcfg.read_configuration(ROOT / "setup.cfg")["metadata"]["version"] == nlptx.__version__


def test_the_core_requires_only_the_documented_packages():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    names = {re.split(r"[<>=~! ]", line)[0] for line in config["options"]["install_requires"].split()}
    assert names == {"click", "numpy", "pandas", "rich", "scipy", "threadpoolctl"}


def test_the_oldest_allowed_versions_are_tested():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    requirements = f"{config['options']['install_requires']} {config['options.extras_require']['report']}"
    allowed = dict(line.split(">=") for line in requirements.split())
    lines = (ROOT / ".ci" / "lowest.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(allowed) == set(tested)
    assert all(f"{tested[name]}.0".startswith(f"{version}.") for name, version in allowed.items())


def test_every_requirement_is_pinned_for_continuous_integration():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    requirements = f"{config['options']['install_requires']} {extras['test']} {extras['dev']}".replace(
        "%(test)s", ""
    ).split()
    lines = (ROOT / ".ci" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0] for line in lines if not line.startswith("#")}
    assert {re.split(r"[<>=~!]", line)[0] for line in requirements} <= pinned


def test_the_source_distribution_contains_all_files_of_the_repository(monkeypatch):
    """MANIFEST.in does not list files that setuptools always adds: code, package data, setup.cfg and a few others."""
    file_list = pytest.importorskip("setuptools.command.egg_info").FileList
    try:
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this folder is not a clone of the repository")
    monkeypatch.chdir(ROOT)
    manifest = file_list()
    for line in Path("MANIFEST.in").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            manifest.process_template_line(line)
    present = {name for name in listed.splitlines() if Path(name).exists()}
    inside_package = {name for name in present if name.startswith("nlptx/") and not name.endswith(".md")}
    always = {"LICENSE", "NOTICE", "README.md", "setup.cfg", "setup.py"}
    assert present - set(manifest.files) - inside_package - always == set()


def test_every_module_and_public_function_has_a_docstring():
    missing = []
    for path in MODULES:
        tree = parsed(path)
        if ast.get_docstring(tree) is None:
            missing.append(str(path))
        for node in tree.body:
            public = isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
            if public and ast.get_docstring(node) is None:
                missing.append(f"{path}:{node.name}")
    assert not missing
