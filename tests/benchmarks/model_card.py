"""Write a card, which describes training data, quality and limitations, into the bundled model.

The model is evaluated on the test split of the reviews, on which it was not trained, and on texts of other kinds.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np
from kinds import cell, rows_by_kind

from nlptx.classifier.model import Model
from nlptx.corpus.corpus import Corpus
from nlptx.corpus.labelled import LabelledDocuments
from nlptx.corpus.read_options import ReadOptions
from nlptx.metrics import Report, compute_report

# Maximum text length, in words, for each row of the table that shows accuracy by length.
LENGTHS = (100, 200, 400, 800)


def read(path: str) -> tuple[list[str], list[str]]:
    """Return the texts and labels of a file, or of the test split of an archive that has splits."""
    documents = list(LabelledDocuments(Corpus((path,), ReadOptions(splits=("test",)))))
    return [document.text for document in documents], [document.label or "" for document in documents]


def report_on(model: Model, probabilities: np.ndarray, labels: list[str]) -> Report:
    targets = np.array([model.labels.index(label) for label in labels])
    return compute_report(probabilities, targets, model.labels, True)


def share(report: Report) -> str:
    low, high = report.interval
    return f"{report.accuracy:.1%} ({low:.1%} to {high:.1%}) of {report.texts:,}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="model trained on the training split")
    parser.add_argument("data", help="archive of reviews whose test split is used")
    parser.add_argument(
        "--kind", action="append", default=[], metavar="NAME=FILE", help="labelled texts of another kind"
    )
    parser.add_argument("--output", required=True, help="file for the model with its card")
    arguments = parser.parse_args()
    model = Model.load(arguments.model)
    texts, labels = read(arguments.data)
    p = model.predict_proba(texts)
    report = report_on(model, p, labels)
    model.temperature, fitted = 1.0, model.temperature
    before = report_on(model, model.predict_proba(texts), labels)
    model.temperature = fitted
    words = np.array([len(model.encode(text)) for text in texts])
    bounds = (0, *LENGTHS, int(words.max()))
    by_length = {}
    for low, high in pairwise(bounds):
        rows = np.flatnonzero((words > low) & (words <= high))
        name = f"{low + 1} to {high} words" if high in LENGTHS else f"more than {low} words"
        by_length[name] = share(report_on(model, p[rows], [labels[row] for row in rows]))
    kinds = {}
    for item in arguments.kind:
        name, _, path = item.partition("=")
        kind_texts, kind_labels = read(path)
        kinds[name] = share(report_on(model, model.predict_proba(kind_texts), kind_labels))
    hard_texts, hard_labels, rows_of = rows_by_kind()
    scores = model.predict_proba(hard_texts) @ np.array([-1.0, 1.0])
    by_kind = {
        kind: f"{cell(scores[rows], [hard_labels[row] for row in rows])} of {len(rows)}"
        for kind, rows in rows_of.items()
    }
    model.card = {
        "purpose": "Classify English opinions as positive or negative; made for film reviews.",
        "data": "Reviews of the training half of IMDB (Maas et al. 2011), labelled or not; and synthetic opinions,"
        " written for the project by a language model (data/README.md).",
        "lexicon": "Prior means of the n-gram weights: VADER's sentiment lexicon (Hutto and Gilbert 2014, MIT licence),"
        " and the values of emoji and ratings in data/emoji.tsv.",
        "method": "A one-block transformer on PCA word vectors, combined with two linear n-gram models and region"
        " filters (see README).",
        "evaluation": "Texts on which the model was not trained: accuracy with 95% interval.",
        "accuracy": {"film reviews, films unseen in training": share(report), **kinds},
        "film reviews by length": by_length,
        "hard sentences": by_kind,
        "neutral": "Fraction of the neutral sentences whose score is between -0.5 and 0.5.",
        "calibration on film reviews": {
            "temperature": fitted,
            "expected calibration error": f"{before.ece:.2%} before, {report.ece:.2%} after",
            "log-loss": f"{before.log_loss:.4f} before, {report.log_loss:.4f} after",
        },
        "weaker": [
            "Subjects other than films, and sentences that express an opinion without opinion words: see above.",
            "Irony, quoted opinions, and opinions about somebody else's opinion.",
            "Mixed or neutral texts: the model has only two labels, and was trained on clear opinions.",
        ],
        "not_for": "Decisions about people, languages other than English, facts, health or safety.",
    }
    model.save(arguments.output)


if __name__ == "__main__":
    main()
