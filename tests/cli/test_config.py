"""Tests of ``--config FILE``: options of the stages from a TOML file, and their precedence."""

import pytest
from calling import call, failure
from command import header_of


@pytest.fixture
def here(work, tmp_path, monkeypatch):
    """Run the test in an empty working folder; return ``work``, the folder with the input files."""
    monkeypatch.chdir(tmp_path)
    return work


def config(text, name="c.toml"):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return ("--config", name)


def settings_of(command, *words):
    call(*command, *words, "-q", "-o", "out.npz")
    return header_of("out.npz")["settings"]


def test_each_stage_reads_its_section(here):
    words = config(
        "[cooccur]\nmin_count = 1\nlowercase = false\nmemory = '100M'\n[pca]\ncomponents = 4\n"
        f"[train]\nembeddings = '{here}/embeddings.npz'\nlr = 1\nepochs = 1\nfreeze = true\nskip-bad = true\n"
    )
    counted = settings_of(("cooccur", here / "corpus.txt"), *words)
    assert (counted["min_count"], counted["lowercase"]) == (1, False)
    assert settings_of(("pca", here / "cooccur.npz"), *words)["components"] == 4
    trained = settings_of(("train", here / "train.tsv"), *words)
    assert (trained["lr"], trained["epochs"], trained["freeze"]) == (1.0, 1, True)
    assert header_of("out.npz")["details"]["source"]["reading"] == {"skip_bad": True}


@pytest.mark.parametrize(
    ("option", "file", "variable", "preset", "expected"),
    [
        ("3", 4, "5", "goldstraw", 3),
        (None, 4, "5", "goldstraw", 4),
        (None, None, "5", "goldstraw", 5),
        (None, None, None, "goldstraw", 50),
    ],
    ids=["option", "file", "variable", "preset"],
)
@pytest.mark.parametrize("preset_first", [True, False])
def test_option_over_file_over_variable_over_preset(
    option, file, variable, preset, expected, preset_first, here, monkeypatch
):
    words = config("[pca]\n" + (f"components = {file}\n" if file else ""))
    words = ("--preset", preset, *words) if preset_first else (*words, "--preset", preset)
    if variable:
        monkeypatch.setenv("NLPTX_PCA_COMPONENTS", variable)
    if option:
        words += ("--components", option)
    message = call("pca", here / "cooccur.npz", *words, "-v", "-o", "out.npz", code=None).stderr
    assert f"'components': {expected}," in message


def test_the_preset_of_the_file_can_be_overridden(here, monkeypatch):
    words = config("[pca]\npreset = 'goldstraw'\ncomponents = 4\n")
    found = settings_of(("pca", here / "cooccur.npz"), *words)
    assert (found["transform"], found["components"]) == ("none", 4)
    assert settings_of(("pca", here / "cooccur.npz"), *words, "--preset", "bloem")["transform"] == "ppmi"
    monkeypatch.setenv("NLPTX_PCA_PRESET", "bloem")
    assert settings_of(("pca", here / "cooccur.npz"), *words)["transform"] == "none"
    monkeypatch.setenv("NLPTX_PCA_CONFIG", "c.toml")
    assert settings_of(("pca", here / "cooccur.npz"))["components"] == 4


def test_an_option_with_several_values(here):
    words = config("[cooccur]\nmin-count = 1\nsplit = ['train', 'test']\n")
    settings_of(("cooccur", here / "corpus.txt"), *words)
    assert header_of("out.npz")["details"]["reading"] == {"splits": ["train", "test"]}
    settings_of(("cooccur", here / "corpus.txt"), *config("[cooccur]\nmin-count = 1\nsplit = 'all'\n"))
    assert header_of("out.npz")["details"]["reading"] == {"splits": []}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[trian]\n", "unknown section 'trian' (did you mean 'train'?)"),
        ("epochs = 1\n", "'epochs' is outside a section; write it below one of [cooccur], [pca], [train]."),
        ("train = 3\n", "train is set to a value; expected a section [train]"),
        ("[train]\nepoch = 1\n", "unknown key 'epoch' (did you mean 'epochs'?) in [train]"),
        ("[train]\nconfig = 'c.toml'\n", "unknown key 'config' in [train]; nlptx train --help lists the options."),
        ("[train]\nhelp = true\n", "unknown key 'help' in [train]"),
        ("[cooccur]\nmin-count = 1\nmin_count = 1\n", "[cooccur] has min-count twice"),
        ("[train]\nepochs = '1'\n", "epochs in [train]: the value is '1'; expected a whole number"),
        ("[train]\nepochs = 1.5\n", "epochs in [train]: the value is 1.5; expected a whole number"),
        ("[train]\nepochs = true\n", "epochs in [train]: the value is true; expected a whole number"),
        ("[train]\nepochs = -2\n", "epochs in [train]: --epochs is -2; expected at least -1"),
        ("[train]\nlr = '1'\n", "lr in [train]: the value is '1'; expected a number"),
        ("[train]\nlr = nan\n", "expected a finite number"),
        ("[train]\nfreeze = 1\n", "freeze in [train]: the value is 1; expected true or false"),
        ("[train]\nsplit = [1]\n", "split in [train]: the value is [1]; expected a string or a list of strings"),
        ("[train]\nsplit = 'trian'\n", "split in [train]: 'trian' is not one of"),
        ("[train]\nlong-texts = 'cut'\n", "long-texts in [train]: --long-texts is 'cut'; expected one of split, head"),
        ("[cooccur]\nmemory = '1X'\n", "memory in [cooccur]: '1X' is not a size"),
        ("[pca]\nshard = '1/2'\n", "unknown key 'shard'"),
        ("[train]\nepochs = 1\nepochs = 2\n", "not a TOML file"),
        ("[train]\npreset = 'blom'\n", "preset in [train]: 'blom' is not one of"),
    ],
)
def test_errors_in_the_file_are_reported(text, says, here):
    """Every command checks all sections of the file."""
    code, message = failure("pca", here / "cooccur.npz", *config(text))
    assert code == 2
    assert f"c.toml: {says}" in message.replace("\n", "") or ("c.toml: " in message and says in message)


def test_errors_found_by_the_command_itself_name_the_file(here):
    code, message = failure("cooccur", here / "corpus.txt", *config("[cooccur]\nmemory = 1000\n"))
    assert (code, "at least 64M is needed (from [cooccur] in c.toml)" in message) == (2, True)


@pytest.mark.parametrize("command", [("crossvalidate",), ("tune", "--minutes", "0.000001")], ids=lambda words: words[0])
@pytest.mark.parametrize("own_vectors", [True, False])
def test_options_of_train_that_would_change_the_result_are_named_if_experiments_ignore_them(command, own_vectors, here):
    without_effect = "card = 'none.json'\noutput = 'm.npz'\nmemory = '1G'\ntmp-dir = '.'\ncheckpoint-minutes = 1"
    words = config(f"[train]\nvalid = 'none.tsv'\nepochs = 0\nskip-bad = true\nresume = true\n{without_effect}\n")
    origin = () if own_vectors else ("-e", here / "embeddings.npz")
    told = call(*command, here / "train.tsv", *origin, "--folds", "2", *words)
    assert told.stderr.splitlines()[0] == f"c.toml: {command[0]} ignores valid in [train]"


@pytest.mark.parametrize("name", ["none.toml", "."])
def test_a_file_that_cannot_be_read(name, here):
    code, message = failure("pca", here / "cooccur.npz", "--config", name)
    assert (code, f"{name}: " in message) == (2, True)


def test_a_file_with_bom_and_windows_line_ends(here):
    with open("w.toml", "wb") as file:
        file.write(b"\xef\xbb\xbf[pca]\r\ncomponents = 4\r\n")
    assert settings_of(("pca", here / "cooccur.npz"), "--config", "w.toml")["components"] == 4
