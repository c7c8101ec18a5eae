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
@run_options(json_help="Print the names of the files as one JSON object.", computes=False)
def init(folder: str, train: str, test: str, run: Run) -> None:
    """Create an experiment: a folder with a Makefile and settings files.

    \b
    nlptx init experiment reviews.csv new_reviews.csv
    nlptx init experiment reviews.csv new_reviews.csv -q && make -C experiment

    The command writes a Makefile and two settings files into FOLDER. For each settings file, make runs a
    cross-validation on TRAIN and trains a model with each of three seeds. Then it compares the results and tests all
    models on TEST. Edit the settings, or add more settings files; make repeats only the steps that depend on changed
    files. The experiment needs GNU make, and its reports need the report extra: pip install 'nlptx[report]'.
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
