"""Tests of where settings come from (options, variables, presets), and of the parts of a corpus that a stage reads."""

import tarfile

import pytest
from command import header_of, refused, run
from sample_data import COUNT, TRAIN, make_rows


def settings_of(path):
    return header_of(path)["settings"]


# ---------------------------------------------------------------- where settings come from


@pytest.mark.parametrize(
    ("options", "variable", "lr"),
    [
        (("--preset", "bloem"), "0.02", 0.02),
        (("--preset", "bloem", "--lr", "0.03"), "0.02", 0.03),
        (("--lr", "0.03", "--preset", "bloem"), None, 0.03),
    ],
    ids=["variable-over-preset", "option-over-variable", "preset-comes-last"],
)
def test_option_over_variable_over_preset_over_default(options, variable, lr, work, tmp_path):
    small = ("--epochs", "1", "--blocks", "1", "--heads", "1", "--batch", "40", "--attention-window", "16")
    words = ("train", work / "train.tsv", "-e", work / "embeddings.npz", *small, *options, "-o", tmp_path / "out.npz")
    run(*words, env={"NLPTX_TRAIN_LR": variable})
    assert settings_of(tmp_path / "out.npz")["lr"] == lr


@pytest.mark.parametrize(
    ("command", "variables", "setting", "value"),
    [
        ("cooccur", {"NLPTX_COOCCUR_LOWERCASE": "0"}, "lowercase", False),
        ("pca", {"NLPTX_PCA_COMPONENTS": "3"}, "components", 3),
    ],
)
def test_variables_reach_every_stage(command, variables, setting, value, work, tmp_path):
    words = {"cooccur": ("cooccur", work / "corpus.txt"), "pca": ("pca", work / "cooccur.npz")}[command]
    run(*words, "-o", tmp_path / "out.npz", env=variables)
    assert settings_of(tmp_path / "out.npz")[setting] == value


def test_the_message_about_an_invalid_variable_names_it(work):
    refused(
        "pca",
        work / "cooccur.npz",
        code=2,
        says=("components", "(from NLPTX_PCA_COMPONENTS)"),
        env={"NLPTX_PCA_COMPONENTS": "many"},
    )


def test_preset_goldstraw_resolves_to_the_settings_of_the_article(work, tmp_path):
    run("cooccur", work / "corpus.txt", "--preset", "goldstraw", "--min-count", "1", "-o", "c.npz", cwd=tmp_path)
    run("pca", "c.npz", "--preset", "goldstraw", "--components", "6", "-o", "e.npz", cwd=tmp_path)
    words = ("train", work / "train.tsv", "-e", "e.npz", "--preset", "goldstraw", "--epochs", "1")
    run(*words, "-o", "m.npz", cwd=tmp_path)
    shown = run("info", "m.npz", "--json", cwd=tmp_path).json
    expected = {
        "c.npz": {"window": 4, "weighting": "linear", "min_count": 1},
        "e.npz": {"components": 6, "transform": "none", "eigenvalue_weight": 1.0},
        "m.npz": {
            "attention_window": 12,
            "long_texts": "head",
            "blocks": 2,
            "heads": 3,
            "head_width": "wide",
            "hidden": 400,
            "norm": "post",
            "pool": "flatten",
            "loss": "squared-error",
            "optimizer": "sgd",
            "lr": 0.001,
            "schedule": "constant",
            "ngrams": 0,
            "freeze": True,
            "dropout": 0.0,
            "epochs": 1,
        },
    }
    headers = {"c.npz": shown["made_from"]["made_from"], "e.npz": shown["made_from"], "m.npz": shown}
    for name, settings in expected.items():
        actual = headers[name]["settings"]
        assert {key: actual[key] for key in settings} == settings


# ---------------------------------------------------------------- folders, archives, splits

SPLITS = {"train/pos": 4, "train/neg": 4, "train/unsup": 3, "test/pos": 2, "test/neg": 2}


@pytest.fixture(scope="module")
def reviews(tmp_path_factory):
    """A folder and an archive with the layout of the IMDB reviews."""
    root = tmp_path_factory.mktemp("reviews")
    top = root / "aclImdb"
    for part, count in SPLITS.items():
        (top / part).mkdir(parents=True)
        label = part.rpartition("/")[2]
        for number, (text, _) in enumerate(make_rows((label if label != "unsup" else "pos",), count, seed=5)):
            (top / part / f"{number}_8.txt").write_text(text)
    (top / "imdb.vocab").write_text("the\n")
    (top / "train" / "urls_pos.txt").write_text("https://example.org/\n")
    (top / "README").write_text("about\n")
    with tarfile.open(root / "aclImdb.tar.gz", "w:gz") as archive:
        archive.add(top, "aclImdb")
    return {"folder": top, "archive": root / "aclImdb.tar.gz"}


def test_each_command_reads_its_splits(reviews, work, tmp_path):
    out = ("--json", "-o", tmp_path / "out.npz")
    assert run("cooccur", reviews["archive"], *COUNT, *out).json["documents"] == 11
    assert run("train", reviews["folder"], "-e", work / "embeddings.npz", *TRAIN, *out).json["texts"] == 8
    assert run("train", reviews["archive"], "-e", work / "embeddings.npz", *TRAIN, *out).json["texts"] == 8
    assert run("evaluate", "-m", work / "model.npz", reviews["archive"], "--json").json["texts"] == 4
    assert len(run("predict", "-m", work / "model.npz", reviews["folder"]).lines) == 4


@pytest.mark.parametrize(("options", "documents"), [(("test", "unsup"), 7), (("all",), 15)])
def test_split_selects_the_parts(options, documents, reviews, tmp_path):
    words = [word for name in options for word in ("--split", name)]
    summary = run("cooccur", reviews["archive"], *words, *COUNT, "--json", "-o", tmp_path / "out.npz").json
    assert summary["documents"] == documents


def test_class_folders_define_the_labels(work, tmp_path):
    for number, (text, label) in enumerate(make_rows(("comedy", "drama"), 20, seed=6)):
        (tmp_path / "films" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "films" / label / f"{number}.txt").write_text(text)
    words = ("train", "films", "-e", work / "embeddings.npz", *TRAIN, "--json", "-o", "m.npz")
    assert run(*words, cwd=tmp_path).json["labels"] == ["comedy", "drama"]
