"""``nlptx neighbors``."""

from __future__ import annotations

import click

from nlptx.cli.inputs import check_names
from nlptx.cli.options import Run, run_options
from nlptx.cli.reporter import print_json


@click.command()
@click.argument("embeddings", metavar="EMBEDDINGS")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
@click.option("--analogy", is_flag=True, help="Three words a b c: find d such that a is to b as c is to d.")
@click.option("-n", "--top", type=click.IntRange(1), default=10, show_default=True, help="How many.")
@run_options(json_help="Print one JSON object.")
def neighbors(embeddings: str, words: tuple[str, ...], analogy: bool, top: int, run: Run) -> None:
    """Show the words nearest to a word, by the cosine of their vectors.

    \b
    nlptx neighbors embeddings.npz terrible wonderful
    nlptx neighbors embeddings.npz --analogy man king woman

    EMBEDDINGS is the output of nlptx pca or nlptx train, or word2vec text (*.txt, *.vec).
    """
    check_names(embeddings)
    if analogy and len(words) != 3:
        raise click.UsageError(f"--analogy takes three words; got {len(words)}.")
    from nlptx.artifacts import container
    from nlptx.classifier.model import Model
    from nlptx.embeddings.embeddings import TEXT_SUFFIXES, Embeddings, load_embeddings

    if embeddings.endswith(TEXT_SUFFIXES):
        vectors = load_embeddings(embeddings)
    else:
        artifact = container.read(embeddings, "embeddings", "model")
        if artifact.kind == "model":
            vectors = container.build(artifact, Model.from_artifact, embeddings).embeddings()
        else:
            vectors = container.build(artifact, Embeddings.from_artifact, embeddings)
    if analogy:
        found = {" ".join(words): vectors.analogy(words[0], words[1], words[2], top)}
    else:
        found = {word: vectors.nearest(word, top) for word in words}
    if run.json:
        print_json(
            {
                name: [{"word": word, "cosine": round(cosine, 6)} for word, cosine in rows]
                for name, rows in found.items()
            }
        )
        return
    for name, rows in found.items():
        run.talk.table(name, ("word", "cosine"), [(word, f"{cosine:.4f}") for word, cosine in rows])
