"""Measures how much ``--start`` helps in multi-label classification.

The texts are those of ``several_labels.py``: one to three TREC questions each. A quarter of the questions is used for
testing. A tenth of the training texts has all labels: the 6 types and, for more than 6 labels, pairs of a type and a
word. The other training texts have only the types as labels. Three ways to train on the tenth with all labels are
compared: without ``--start``; with ``--start`` from a model that was trained on the other training texts; and with
``--start bundled``, a single-label model. All figures are means over several splits.

    python tests/benchmarks/start_several_labels.py trec/train.tsv --splits 3
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from several_labels import make_data, measures, read_questions

import nlptx
from nlptx.classifier.label_sets import find_label_sets

SHARE = 0.1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--labels", type=int, nargs="*", default=[6, 20])
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    questions = read_questions(arguments.data)
    types = {kind for kind, _ in questions}
    print("labels  training texts  way                        micro-F1  macro-F1  subset accuracy")
    for count in arguments.labels:
        found: dict[str, list[list[float]]] = {}
        for seed in range(1, arguments.splits + 1):
            data = make_data(questions, count, seed)
            few = round(SHARE * len(data.train))
            texts, sets = data.train[:few], data.train_sets[:few]
            known = set().union(*sets)
            older = nlptx.fit(data.train[few:], [labels & types for labels in data.train_sets[few:]], seed=seed)
            starts = {"no start": None, "--start, several labels": older, "--start bundled": nlptx.Model.load()}
            for name, start in starts.items():
                model = nlptx.fit(texts, sets, start=start, seed=seed)
                true = find_label_sets([tuple(labels & known) for labels in data.test_sets], model.labels)
                found.setdefault(name, []).append(measures(true, model.choose(model.predict_proba(data.test))))
        for name, values in found.items():
            figures = "  ".join(f"{value:8.4f}" for value in np.mean(values, axis=0))
            print(f"{count:6}  {few:14}  {name:25}  {figures}", flush=True)


if __name__ == "__main__":
    main()
