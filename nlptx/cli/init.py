"""``nlptx init``."""

from __future__ import annotations

import click

from nlptx.cli.command import PATH, command
from nlptx.cli.inputs import check_names
from nlptx.cli.options import Run, run_options


@command()
@click.argument("folder", type=PATH, metavar="FOLDER")
@click.argument("train", type=PATH, metavar="TRAIN")
@click.argument("test", type=PATH, metavar="TEST")
@run_options(json_help="Print the names of the files as one JSON object.")
def init(folder: str, train: str, test: str, run: Run) -> None:
    """Start an experiment that make runs.

    \b
    nlptx init experiment reviews.csv new_reviews.csv
    nlptx init experiment reviews.csv new_reviews.csv -q && make -C experiment

    FOLDER gets a Makefile and two files of settings. make trains a model with each settings file and each of three
    seeds, cross-validates the settings on TRAIN, compares them, and tests all models on TEST. Edit the settings, or add
    further files; make then reruns only what depends on them. The reports need the extra report, and GNU make.
    """
    from nlptx.cli.reporter import print_json
    from nlptx.experiments.new_experiment import write_experiment

    check_names(folder, train, test)
    paths = [str(path) for path in write_experiment(folder, train, test)]
    if run.json:
        print_json({"output": folder, "files": paths})
        return
    run.reporter.note(f"wrote {', '.join(paths)}")
    run.reporter.note(f"next: edit {folder}/settings/candidate.toml, then run make -C {folder}")
