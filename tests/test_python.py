"""Tests of the Python interface of nlptx: names, argument types, representations, errors and examples."""

import copy
import doctest
import importlib
import inspect
import pkgutil
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reviews import make_reviews, small_embeddings

import nlptx
from nlptx.errors import InputTypeError, SettingsError

EPOCH = nlptx.TrainSettings(epochs=1, ngrams=0, width=8)
COUNT = nlptx.CountSettings(min_count=1)
TEXTS, LABELS = make_reviews(24)
CLASSIFIER = nlptx.TextClassifier(epochs=0, jobs=1)
# Maximum length of the `repr` of an object: it must fit on a line of a terminal, after the prompt of the interpreter.
LINE = 120


def fit(labels=LABELS, texts=TEXTS, **more):
    return nlptx.fit(texts, labels, small_embeddings(), EPOCH, jobs=1, **more)


@pytest.fixture(scope="module")
def model():
    return fit()


# ---------------------------------------------------------------- names


def test_dir_lists_exactly_the_public_names():
    assert {name for name in dir(nlptx) if not name.startswith("_")} == set(nlptx.__all__) - {"__version__"}
    assert set(nlptx.__all__) >= {"count", "fit_pca", "fit", "explain", "evaluate", "Model", "Embeddings"}


def test_every_public_name_exists_and_has_a_docstring():
    for name in set(nlptx.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(nlptx, name))
    with pytest.raises(AttributeError, match="no attribute 'cuont'"):
        nlptx.cuont  # noqa: B018


# ---------------------------------------------------------------- texts


KINDS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "array of objects": lambda values: np.array(values, object),
    "Series": pd.Series,
    "Series with another index": lambda values: pd.Series(values, index=range(100, 100 + len(values))),
    "generator": iter,
    "keys of a dict": lambda values: dict.fromkeys(values).keys(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_texts_may_be_any_collection(kind, model):
    texts = list(dict.fromkeys(TEXTS))
    labels = [LABELS[TEXTS.index(text)] for text in texts]
    make, other = KINDS[kind], KINDS[kind] if kind != "keys of a dict" else list
    for actual, expected in (
        (nlptx.count(make(texts), COUNT, 1).matrix.toarray(), nlptx.count(texts, COUNT, 1).matrix.toarray()),
        (model.predict_proba(make(texts), 1), model.predict_proba(texts, 1)),
        (fit(other(labels), make(texts)).flat, fit(labels, texts).flat),
        (
            fit(valid=(make(texts), other(labels)), unlabelled=make(texts)).flat,
            fit(valid=(texts, labels), unlabelled=texts).flat,
        ),
        (nlptx.evaluate(model, make(texts), other(labels)).confusion, nlptx.evaluate(model, texts, labels).confusion),
    ):
        assert np.array_equal(actual, expected)


def callers(model):
    """Return, by name, public functions as functions of texts alone, and the name of the argument for the texts."""
    return {
        "count": (lambda texts: nlptx.count(texts, COUNT), "texts"),
        "fit": (lambda texts: fit(texts=texts), "texts"),
        "fit valid": (lambda texts: fit(valid=(texts, LABELS)), r"valid\[0\]"),
        "fit unlabelled": (lambda texts: fit(unlabelled=texts), "unlabelled"),
        "predict": (model.predict, "texts"),
        "predict_proba": (model.predict_proba, "texts"),
        "evaluate": (lambda texts: nlptx.evaluate(model, texts, LABELS), "texts"),
    }


CALLERS = ("count", "fit", "fit valid", "fit unlabelled", "predict", "predict_proba", "evaluate")
NO_TEXTS = {
    "str": ("one text", r"is 'one text' \(str\); expected a list or other iterable of texts"),
    "bytes": (b"one text", r"is b'one text' \(bytes\); expected a list or other iterable of texts"),
    "number": (3, r"is 3 \(int\); expected a list or other iterable of texts"),
    "None": (None, "is None; expected a list or other iterable of texts"),
    "set": ({"a text"}, r"is .* \(set\), whose order is arbitrary; expected a list or other iterable of texts"),
    "dict": ({"a text": 1}, r"is .* \(dict\); expected a list or other iterable of texts"),
    "table": (pd.DataFrame({"text": TEXTS}), "is a pandas.DataFrame with 2 dimensions; expected a list or other"),
    "matrix": (np.array([TEXTS]), "is a numpy.ndarray with 2 dimensions; expected a list or other"),
    "scalar array": (np.array("a text"), "is a numpy.ndarray with 0 dimensions; expected a list or other"),
}


def test_the_values_of_a_data_frame_are_not_quoted_in_a_message():
    with pytest.raises(TypeError, match=r"^`valid` is a pandas\.DataFrame; expected a pair of texts and labels$"):
        nlptx.fit(TEXTS, ["a", "b"] * (len(TEXTS) // 2), valid=pd.DataFrame({"text": TEXTS}))


class LikePyarrow(list):
    """A collection whose elements have to be converted to Python objects, such as a pyarrow array."""

    def __iter__(self):
        return iter([object()] * len(self))

    def to_pylist(self):
        return self[:]


@pytest.mark.parametrize("caller", CALLERS)
def test_texts_may_be_an_array_of_pyarrow(caller, model):
    callers(model)[caller][0](LikePyarrow(TEXTS))


@pytest.mark.parametrize("caller", CALLERS)
def test_an_invalid_collection_of_texts_is_rejected(caller, model):
    call, name = callers(model)[caller]
    for value, message in NO_TEXTS.values():
        with pytest.raises(TypeError, match=f"^`{name}` {message}") as caught:
            call(value)
        assert isinstance(caught.value, nlptx.NlptxError | ValueError)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        (None, "is None", "missing"),
        (float("nan"), r"is nan \(float\)", "missing"),
        (pd.NA, r"is <NA> \(pandas.NAType\)", "missing"),
        (7, r"is 7 \(int\)", ""),
        (b"good", r"is b'good' \(bytes\)", ""),
    ],
)
def test_an_element_that_is_not_a_text_is_named(caller, value, message, hint, model):
    call, name = callers(model)[caller]
    with pytest.raises(TypeError, match=rf"^`{name}\[3\]` {message}; expected a str") as caught:
        call([*TEXTS[:3], value, *TEXTS[4:]])
    assert isinstance(caught.value, ValueError)
    assert hint in str(caught.value)


@pytest.mark.parametrize("name", ["explain", "nearest"])
def test_a_single_text_or_word_must_be_a_str(name, model):
    call = {"explain": lambda: nlptx.explain(model, ["w1"]), "nearest": lambda: small_embeddings().nearest(3)}[name]
    with pytest.raises(TypeError, match="expected a str"):
        call()


# ---------------------------------------------------------------- other arguments


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nlptx.fit_pca(3), r"`counts` is 3 \(int\); expected an instance of Cooccurr"),
        (lambda: nlptx.fit(TEXTS, LABELS, "e.npz"), r"`embeddings` is 'e.npz' \(str\); expected an instance of Embed"),
        (lambda: nlptx.count(TEXTS, {"window": 2}), r"`settings` is \{'window': 2\} \(dict\); expected an instance"),
        (lambda: nlptx.fit(TEXTS, LABELS, small_embeddings(), COUNT), r"`settings` .* expected an instance of TrainS"),
        (lambda: fit(valid=TEXTS), "`valid` .* expected a pair"),
        (lambda: fit(seed="one"), r"`seed` is 'one' \(str\); expected an int"),
        (lambda: fit(seed=1.5), r"`seed` is 1.5 \(float\); expected an int"),
        (
            lambda: nlptx.explain(CLASSIFIER.fit(TEXTS, LABELS), "w1"),
            "expected an .* Model\n  Pass its attribute model_",
        ),
        (lambda: fit(memory="4G"), r"`memory` is '4G' \(str\); expected an int"),
        (lambda: nlptx.count(TEXTS, memory=None), "`memory` is None; expected an int"),
        (lambda: nlptx.fit_pca("c.npz", memory=1.5), "`memory` is 1.5 .*; expected an int"),
        (lambda: fit(tmp_dir=3), "`tmp_dir` has the type int; expected a str or a path"),
        (lambda: nlptx.read_training_data(None), "`data` is None; expected a list or other iterable of paths"),
        (lambda: nlptx.read_training_data(pd.DataFrame({"text": TEXTS})), "`data` is a pandas.DataFrame with 2"),
        (lambda: nlptx.read_training_data([3]), r"`data\[0\]` has the type int; expected a str or a path"),
        (lambda: nlptx.evaluate("model.npz", TEXTS, LABELS), "`model` .* expected an instance of Model"),
        (lambda: nlptx.explain("model.npz", "w1"), "`model` .* expected an instance of Model"),
    ],
)
def test_the_error_for_a_wrong_type_names_the_argument(call, message):
    with pytest.raises(InputTypeError, match=message):
        call()


def test_invalid_values_are_value_errors():
    with pytest.raises(ValueError, match="`seed` is -1; expected at least 0"):
        fit(seed=-1)
    with pytest.raises(ValueError, match="`epochs` is -2; expected at least -1"):
        nlptx.TrainSettings(epochs=-2)
    for jobs in (0, -1, 1.5, "two"):
        with pytest.raises(ValueError, match=f"`jobs` is {jobs!r}; expected an int of at least 1"):
            nlptx.count(TEXTS, COUNT, jobs)
    with pytest.raises(ValueError, match="Set `components` to 2"):
        nlptx.fit_pca(nlptx.count(["a b"], COUNT, 1), nlptx.PcaSettings(components=3))
    with pytest.raises(ValueError, match="`texts` is empty"):
        nlptx.evaluate(fit(), [], [])


def test_training_data_is_read_with_options(tmp_path):
    (tmp_path / "a.csv").write_text("review,stars\ngood,5\nbad,1\n")
    options = nlptx.ReadOptions(text_column="review", label_column="stars")
    data = nlptx.read_training_data(tmp_path / "a.csv", options=options)
    assert (data.texts, data.labels) == (["good", "bad"], ["5", "1"])
    with pytest.raises(InputTypeError, match="`options` is"):
        nlptx.read_training_data(tmp_path / "a.csv", options={"text_column": "review"})


# ---------------------------------------------------------------- files


@pytest.mark.parametrize("kind", [str, Path])
def test_load_reads_what_save_writes(tmp_path, model, kind):
    counts, embeddings = nlptx.count(TEXTS, COUNT, 1), small_embeddings()
    for each, name in ((counts, "c.npz"), (embeddings, "e.npz"), (embeddings, "e.txt"), (model, "m.npz")):
        path = kind(tmp_path / name)
        each.save(path)
        again = type(each).load(path)
        array = {"c": "matrix", "e": "vectors", "m": "table"}[name[0]]
        before, after = getattr(each, array), getattr(again, array)
        assert (before != after).sum() == 0
        assert again.vocabulary.words == each.vocabulary.words
        if name[0] == "e":
            assert np.array_equal(nlptx.load_embeddings(path).vectors, embeddings.vectors)


@pytest.mark.parametrize("load", [nlptx.Model.load, nlptx.Embeddings.load, nlptx.Cooccurrence.load])
def test_a_path_is_checked_before_use(load, tmp_path, model):
    with pytest.raises(nlptx.NlptxError, match="no such file"):
        load(tmp_path / "none.npz")
    with pytest.raises(InputTypeError, match="`path` has the type int; expected a str or a path"):
        load(3)
    with pytest.raises(InputTypeError, match="`path` has the type NoneType; expected a str or a path"):
        model.save(None)
    damaged = tmp_path / "damaged.npz"
    for content, says in (
        (b"PK", "or truncated"),
        (b"", "the file is empty"),
        (b"text,label", "expected [a-z]+ .nlptx [a-z]+."),
    ):
        damaged.write_bytes(content)
        with pytest.raises(ValueError, match=rf"damaged\.npz: not an nlptx artifact.*{says}"):
            load(damaged)


def test_objects_with_arrays_are_equal_only_to_themselves(model):
    for each in (model, small_embeddings(), nlptx.count(TEXTS, COUNT, 1)):
        other = copy.copy(each)
        assert each == each
        assert each != other
        assert len({each, each, other}) == 2


def test_saved_counts_can_be_opened_with_scipy(tmp_path):
    import scipy.sparse

    counts = nlptx.count(TEXTS, COUNT, 1)
    counts.save(tmp_path / "c.npz")
    assert (scipy.sparse.load_npz(tmp_path / "c.npz") != counts.matrix).nnz == 0


# ---------------------------------------------------------------- evaluate and explain


def test_evaluate_reports_on_the_predictions(model):
    report = nlptx.evaluate(model, TEXTS, LABELS, jobs=1)
    hits = np.array(model.predict(TEXTS, 1)) == LABELS
    assert report.accuracy == hits.mean()
    assert report.confusion.sum() == len(TEXTS)
    assert [row.label for row in report.classes] == model.labels


def test_evaluate_uses_labels_of_the_type_used_in_training():
    model = fit([LABELS.index(label) for label in LABELS])
    report = nlptx.evaluate(model, TEXTS, np.array([LABELS.index(label) for label in LABELS]))
    assert [row.label for row in report.classes] == [0, 1]
    with pytest.raises(nlptx.NlptxError, match=r"`labels\[1\]` is 'neg' \(str\); expected one of 0, 1"):
        nlptx.evaluate(model, TEXTS[:2], [0, "neg"])


def test_explain_accepts_a_label_of_any_type():
    model = fit([LABELS.index(label) == 1 for label in LABELS])
    effects = {label: nlptx.explain(model, TEXTS[1], label).effects for label in (False, True)}
    assert np.allclose(effects[False], -effects[True])
    with pytest.raises(ValueError, match=r"`label` is 'pos' \(str\); expected one of False, True"):
        nlptx.explain(model, TEXTS[1], "pos")


# ---------------------------------------------------------------- representations


def test_every_representation_fits_in_a_line(model):
    many = [f"{'a long label ' * 30}{number}" for number in range(100)]
    odd = fit([many[number % 12] for number in range(24)])
    bloem = nlptx.TrainSettings(**dict.fromkeys(("epochs", "batch", "warmup", "patience", "heads", "blocks"), 7))
    counts = nlptx.count(TEXTS, COUNT, 1)
    bundled = nlptx.Model.load()
    objects = [model, odd, bundled, bundled.vocabulary, bundled.embeddings(), bundled.ngram_features, bundled.network]
    objects += [counts, counts.to_artifact(), counts.settings, nlptx.PcaSettings(), EPOCH, bloem, nlptx.TrainSettings()]
    objects += [nlptx.TextClassifier(embeddings=small_embeddings(), pca=nlptx.PcaSettings(), **bloem.to_dict())]
    objects += [nlptx.explain(model, TEXTS[0]), nlptx.evaluate(model, TEXTS, LABELS)]
    for each in objects:
        assert len(repr(each)) <= LINE, repr(each)
        assert "\n" not in repr(each)
        assert type(each).__name__ in repr(each)


# ---------------------------------------------------------------- examples


def examples():
    """Return all docstrings of the package that contain examples, by name."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    names = ["nlptx", *(module.name for module in pkgutil.walk_packages(nlptx.__path__, "nlptx."))]
    modules = [importlib.import_module(name) for name in names if name != "nlptx.__main__"]
    return {example.name: example for module in modules for example in finder.find(module) if example.examples}


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_of_a_docstring_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    output = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False)
    runner.run(EXAMPLES[name], out=output.append)
    assert not runner.failures, "".join(output)


def test_every_public_function_has_an_example():
    functions = [name for name in nlptx.__all__ if inspect.isfunction(getattr(nlptx, name))]
    shown = {name.rpartition(".")[2] for name in EXAMPLES}
    assert set(functions) <= shown


def test_texts_are_read_in_the_calling_thread(model):
    """Some iterators, such as those over the rows of an SQLite database, work only in the thread that made them."""
    connection = sqlite3.connect(":memory:")
    connection.execute("create table texts (text)")
    connection.executemany("insert into texts values (?)", [("good",), ("bad film",)])
    rows = (text for (text,) in connection.execute("select text from texts"))
    assert model.predict(rows) == model.predict(["good", "bad film"])
    connection.close()


def test_another_thread_gives_the_same_bytes(model):
    found = []
    texts = ["a good film", "bad"] * 40
    expected = model.predict_proba(texts)
    thread = threading.Thread(target=lambda: found.append(model.predict_proba(texts)))
    thread.start()
    thread.join()
    assert np.array_equal(found[0], expected)


def test_numbers_are_checked(model):
    assert model.predict(["good"], jobs=np.int64(2)) == model.predict(["good"])
    with pytest.raises(SettingsError, match="`jobs` is True"):
        model.predict(["good"], jobs=True)
    with pytest.raises(InputTypeError, match="`abstain` is 'a'"):
        model.predict(["good"], abstain="a")
    with pytest.raises(InputTypeError, match="`max_error` is 'a'"):
        model.threshold("a")
    with pytest.raises(InputTypeError, match="`pca` is 3"):
        nlptx.TextClassifier().set_params(pca=3, pca__components=4)
    with pytest.raises(InputTypeError, match="Did you mean `seed`"):
        nlptx.TextClassifier(random_state=1)


def test_numbers_too_small_for_a_float_are_not_errors():
    texts = ["a good film", "a bad film", "so good", "so bad", "really good acting", "really bad acting"]
    with np.errstate(all="raise"):
        counts = nlptx.count(texts * 6, jobs=1)
        embeddings = nlptx.fit_pca(counts, jobs=1)
        model = nlptx.fit(texts * 6, [1, 0] * 18, settings=EPOCH, jobs=1)
    assert np.array_equal(embeddings.vectors, nlptx.fit_pca(counts, jobs=1).vectors)
    assert np.array_equal(model.flat, nlptx.fit(texts * 6, [1, 0] * 18, settings=EPOCH, jobs=1).flat)


def test_an_empty_path_is_not_a_model():
    with pytest.raises(SettingsError, match="no such file"):
        nlptx.Model.load("")
