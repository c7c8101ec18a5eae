# All targets use the virtual environment .venv, which is created on first use.

PYTHON ?= python3
VENV := .venv
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# Folder of the real corpora that the experiments and some tests use.
NLPTX_SHARED_DATA ?= ../shared/data
export NLPTX_SHARED_DATA
DATA ?= $(NLPTX_SHARED_DATA)/aclImdb_dev.tar.gz

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: help demo test torture lowest audit check format bench imdb goldstraw bloem sst2 sst5 trec cr abstention results default-model build ablations similarity pictures transfer languages faithfulness wrong-labels suggestions efforts clean FORCE

help:  ## Show this help.
	@echo "make TARGET [DATA=path/to/aclImdb.tar.gz]"; echo
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# -- Installing ----------------------------------------------------------------------------------------------

INSTALLED := $(VENV)/.installed
TOOLS := $(VENV)/.tools
PLOTS := $(VENV)/.plots

# In continuous integration (CI is set), install pinned versions; otherwise, the newest versions that setup.cfg allows.
PINNED := $(if $(CI),-c .ci/constraints.txt)

# Use virtualenv if the venv module is missing, as it is in some Linux distributions.
$(VENV)/bin/python:
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || { rm -rf $(VENV); \
	  $(PYTHON) -m pip install --quiet --target $(VENV)-bootstrap virtualenv && \
	  PYTHONPATH=$(VENV)-bootstrap $(PYTHON) -m virtualenv --quiet $(VENV) && rm -rf $(VENV)-bootstrap; }

$(INSTALLED): setup.cfg | $(VENV)/bin/python
	@echo "installing nlptx and its requirements"
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(PINNED) -e '.[test]'
	@touch $@

$(TOOLS): $(INSTALLED)
	@echo "installing the development tools"
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(PINNED) -e '.[dev]'
	@touch $@

$(PLOTS): $(INSTALLED)
	@echo "installing matplotlib"
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[plot]'
	@touch $@

# -- Development ---------------------------------------------------------------------------------------------

demo: $(INSTALLED)  ## Install, run the four stages on the bundled sentences, and score some text.
	@mkdir -p build/demo
	nlptx cooccur data/train.tsv --min-count 2 -o build/demo/cooccur.npz
	nlptx pca build/demo/cooccur.npz --components 64 -o build/demo/embeddings.npz
	nlptx train data/train.tsv -e build/demo/embeddings.npz --epochs 10 -o build/demo/model.npz
	nlptx evaluate data/test.tsv -m build/demo/model.npz
	nlptx predict data/examples.txt -m build/demo/model.npz

# The tests start nlptx hundreds of times, which takes longer if the environment forbids storing byte code.
test: $(INSTALLED)  ## Install and run the tests.
	PYTHONDONTWRITEBYTECODE= $(VENV)/bin/python -m pytest -n auto

# TORTURE_SCALE=0.1 runs a tenth of the repetitions; PYTEST="-k crashes" selects tests.
torture: $(INSTALLED)  ## Inject faults into running stages, and check the results (tens of minutes).
	$(VENV)/bin/python -m pytest -m torture -n auto $(PYTEST) tests/torture

# A Python version for which wheels of the oldest supported version of every dependency exist.
LOWEST_PYTHON ?= python3.11
lowest:  ## Run the tests with the oldest versions of all dependencies that setup.cfg allows.
	$(MAKE) VENV=.venv-lowest PYTHON=$(LOWEST_PYTHON) PINNED='-c .ci/lowest.txt' test

audit: $(INSTALLED)  ## Check the pinned versions for known vulnerabilities (needs the network).
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(VENV)/bin/python -m pip_audit --requirement .ci/constraints.txt --no-deps --disable-pip --strict

check: $(TOOLS)  ## Run the linter, and check formatting and types.
	ruff check .
	ruff format --check .
	mypy nlptx
	MYPYPATH=tests/benchmarks mypy $(filter-out tests/benchmarks/test_%,$(wildcard tests/benchmarks/*.py))

format: $(TOOLS)  ## Format the code.
	ruff check --fix .
	ruff format .

bench: $(INSTALLED)  ## Compare the speed of the stages with other libraries, if they are installed.
	@mkdir -p build
	$(VENV)/bin/python tests/benchmarks/bench.py --data $(DATA) --json build/bench.json

build: $(TOOLS)  ## Build the wheel and the source distribution.
	$(VENV)/bin/python -m build --quiet --outdir dist .

clean:  ## Remove all generated files, including the virtual environment.
	rm -rf build dist $(VENV) $(VENV)-bootstrap .venv-lowest *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# -- Experiments ---------------------------------------------------------------------------------------------
# The stages are file targets. A stage runs again if its input or its settings in this file have changed. Data files
# are compared by name and content, not by time, because another archive may be older than the results.

imdb_COOCCUR =
imdb_PCA =
imdb_TRAIN =
goldstraw_COOCCUR = --preset goldstraw
goldstraw_PCA = --preset goldstraw
goldstraw_TRAIN = --preset goldstraw
bloem_COOCCUR = --preset bloem
bloem_PCA = --preset bloem
# The article trains for 80 epochs. One epoch is enough to show that the model learns; use BLOEM_EPOCHS=80 to train as
# in the article.
BLOEM_EPOCHS ?= 1
bloem_TRAIN = --preset bloem --epochs $(BLOEM_EPOCHS)
# Reviews without labels also improve the classification of sentences. If the texts are few and short, it also helps to
# use n-grams that occur only once, to drop more words, and to hold out no texts for validation.
sst2_TRAIN = --epochs 4 --ngram-min-texts 1 --word-dropout 0.2 --valid-share 0 --unlabelled $(DATA)
sst5_TRAIN = $(sst2_TRAIN)
# In questions, rare words and the grammatical roles of words matter more than in reviews. Therefore, narrow windows,
# standardised counts and whitening (which gives all components equal weight) make better word vectors. N-grams that
# occur only once also help. LSA components of only five thousand short texts do not help.
trec_COOCCUR = --window 5
trec_PCA = --smoothing 0.75 --standardize --eigenvalue-weight 0
trec_TRAIN = --label-order none --ngram-min-texts 1 --lsa-components 0 --width 128 --blocks 2 --word-dropout 0.2 --valid-share 0 --subwords on --epochs 12 --region-filters 128
FOLDS ?= 5
# With SEEDS="2 3", imdb, sst2 and sst5 are also trained with each of these seeds. `make results` shows the mean and the
# spread of all runs.
SEEDS ?=

imdb: build/imdb/table.txt $(SEEDS:%=build/imdb/seed-%/evaluate.json)  ## Run all stages on IMDB reviews with the default settings.
goldstraw: build/goldstraw/table.txt  ## Run all stages on IMDB with the settings of the article by Goldstraw.
bloem: build/bloem/table.txt  ## Run all stages on IMDB with the settings of the article by Bloem, but fewer epochs.
sst2: build/sst2/table.txt $(SEEDS:%=build/sst2/seed-%/evaluate.json)  ## Train and test on SST-2 sentences, with word vectors from IMDB.
sst5: build/sst5/table.txt $(SEEDS:%=build/sst5/seed-%/evaluate.json)  ## Train and test on SST-5 sentences (five labels), with word vectors from IMDB.
trec: build/trec/table.txt  ## Cross-validate on TREC questions (six labels, five folds).
cr: build/cr/table.txt  ## Test the bundled model in another domain: on customer reviews, without further training.
imdb goldstraw bloem sst2 sst5 trec cr:
	@cat $<

# build/NAME/STAGE.args changes only when the settings NAME_STAGE change. Lines that start with + also run under
# `make -n`, so that the output of `make -n` is correct.
build/%.args: FORCE
	+@mkdir -p $(@D)
	+@echo '$($(subst /,_,$*))' | cmp -s - $@ || echo '$($(subst /,_,$*))' > $@

# $(call DATA_STAMP,NAME,FILES): build/NAME.data changes only when the name or the content of one of FILES changes.
define DATA_STAMP
build/$(1).data: FORCE | $(2)
	+@mkdir -p $$(@D)
	+@find -L $(2) -type f -exec cksum {} + | LC_ALL=C sort > $$@.new
	+@if cmp -s $$@.new $$@; then rm $$@.new; else mv $$@.new $$@; fi
endef
TREC := $(NLPTX_SHARED_DATA)/trec/train.tsv
CR := $(NLPTX_SHARED_DATA)/cr/cr.tsv
$(eval $(call DATA_STAMP,imdb,$(DATA)))
$(foreach name,sst2 sst5,$(eval $(call DATA_STAMP,$(name),$(addprefix $(NLPTX_SHARED_DATA)/$(name)/,train.tsv dev.tsv))))
$(eval $(call DATA_STAMP,trec,$(TREC)))
$(eval $(call DATA_STAMP,cr,$(CR)))

$(DATA):
	@echo "$(DATA) was not found. Download aclImdb_v1.tar.gz from https://ai.stanford.edu/~amaas/data/sentiment/ and pass DATA=path/to/it" >&2; exit 1

$(NLPTX_SHARED_DATA)/%:
	@echo "$@ was not found. tests/benchmarks/RESULTS.md describes the files in $(NLPTX_SHARED_DATA)" >&2; exit 1

# $(call COUNTS,NAME) and $(call VECTORS,NAME,COUNTS OF): rules for the first two stages with the settings of NAME.
define COUNTS
build/$(1)/cooccur.npz: build/imdb.data build/$(1)/COOCCUR.args | $$(INSTALLED)
	nlptx cooccur $$(DATA) $$($(1)_COOCCUR) -o $$@ --json > build/$(1)/cooccur.json
endef
define VECTORS
build/$(1)/embeddings.npz: build/$(2)/cooccur.npz build/$(1)/PCA.args
	nlptx pca $$< $$($(1)_PCA) -o $$@ --json > build/$(1)/pca.json
endef
# $(call RUN,FOLDER,NAME,VECTORS OF,DATA SET,TRAINED ON,TESTED ON,MORE): rules for a model with the settings of NAME and
# for its evaluation. MORE holds further options of nlptx train.
define RUN
build/$(1)/model.npz: build/$(4).data build/$(3)/embeddings.npz build/$(2)/TRAIN.args
	@mkdir -p $$(@D)
	nlptx train $(5) -e build/$(3)/embeddings.npz $$($(2)_TRAIN) $(7) -o $$@ --json > $$(@D)/train.json
build/$(1)/evaluate.json: build/$(1)/model.npz
	nlptx evaluate $(6) -m $$< --json > $$@
endef
# $(call TABLE,NAME,DATA): rule for a table of the results, as text.
define TABLE
build/$(1)/table.txt: build/$(1)/evaluate.json tests/benchmarks/run_table.py
	$$(VENV)/bin/python tests/benchmarks/run_table.py build/$(1) --data $(2) > $$@
endef

define REVIEWS
$(call COUNTS,$(1))
$(call VECTORS,$(1),$(1))
$(call RUN,$(1),$(1),$(1),imdb,$$(DATA),$$(DATA))
$(call TABLE,$(1),$$(DATA))
endef
$(foreach name,imdb goldstraw bloem,$(eval $(call REVIEWS,$(name))))
$(eval $(call RUN,imdb/seed-%,imdb,imdb,imdb,$$(DATA),$$(DATA),--seed $$*))

# $(call SENTENCES,NAME,DATA FOLDER): rules for a corpus of sentences, with word vectors from imdb.
define SENTENCES
$(call RUN,$(1),$(1),imdb,$(1),$(2)/train.tsv,$(2)/dev.tsv)
$(call RUN,$(1)/seed-%,$(1),imdb,$(1),$(2)/train.tsv,$(2)/dev.tsv,--seed $$*)
$(call TABLE,$(1),$(2))
endef
$(foreach name,sst2 sst5,$(eval $(call SENTENCES,$(name),$$(NLPTX_SHARED_DATA)/$(name))))

$(eval $(call COUNTS,trec))
$(eval $(call VECTORS,trec,trec))
trec_FOLDS = $(FOLDS)
build/trec/evaluate.json: build/trec.data build/trec/embeddings.npz build/trec/TRAIN.args build/trec/FOLDS.args
	nlptx crossvalidate $(TREC) --folds $(FOLDS) --shuffle -e build/trec/embeddings.npz $(trec_TRAIN) --json > $@
$(eval $(call TABLE,trec,$$(TREC)))

# Measure whether the guarantee of predict --max-error holds: on SST-2 by cross-validation, on films that do not occur
# in the training texts, and on CR.
abstention: build/imdb/embeddings.npz  ## Measure whether the errors of predict --max-error on new texts exceed the chosen maximum.
	$(VENV)/bin/python tests/benchmarks/abstention.py $(NLPTX_SHARED_DATA)/sst2/train.tsv \
	  --other $(NLPTX_SHARED_DATA)/sst2/dev.tsv --other $(CR) --embeddings $< --work build/abstention/sst2
	$(VENV)/bin/python tests/benchmarks/abstention.py $(DATA) --train $(DATA) --texts 4000 --models 5 \
	  --other $(CR) --embeddings $< --work build/abstention/imdb -- --valid-share 0.25

build/cr/evaluate.json: build/cr.data nlptx/default_model.npz | $(INSTALLED)
	@mkdir -p $(@D)
	nlptx info nlptx/default_model.npz --json > build/cr/info.json
	nlptx evaluate $(CR) --json > $@
$(eval $(call TABLE,cr,$$(CR)))

wrong-labels: $(INSTALLED)  ## Measure how many wrong labels are found by nlptx check and by cleanlab (pip install cleanlab).
	$(VENV)/bin/python tests/benchmarks/wrong_labels.py $(CR) $(NLPTX_SHARED_DATA)/sst2/train.tsv --model bundled
	$(VENV)/bin/python tests/benchmarks/wrong_labels.py $(TREC)

suggestions: $(INSTALLED) $(DATA)  ## Measure whether labelling texts chosen by check --suggest helps more than labelling random texts.
	$(VENV)/bin/python tests/benchmarks/suggestions.py $(TREC) $(CR) $(NLPTX_SHARED_DATA)/sst2/train.tsv \
	  $(NLPTX_SHARED_DATA)/sst5/train.tsv $(DATA)

EFFORTS := build/efforts
EFFORT_SETS := imdb sst2 sst5 trec
$(EFFORTS)/imdb.json: DATA_OF_EFFORT = $(DATA)
$(EFFORTS)/sst2.json: DATA_OF_EFFORT = $(NLPTX_SHARED_DATA)/sst2/train.tsv --test $(NLPTX_SHARED_DATA)/sst2/dev.tsv
$(EFFORTS)/sst5.json: DATA_OF_EFFORT = $(NLPTX_SHARED_DATA)/sst5/train.tsv --test $(NLPTX_SHARED_DATA)/sst5/dev.tsv
$(EFFORTS)/trec.json: DATA_OF_EFFORT = $(NLPTX_SHARED_DATA)/trec/train.tsv
$(EFFORT_SETS:%=$(EFFORTS)/%.json): | $(INSTALLED)
	@mkdir -p $(EFFORTS)
	$(VENV)/bin/python tests/benchmarks/efforts.py $(DATA_OF_EFFORT) --json $@

efforts: $(EFFORT_SETS:%=$(EFFORTS)/%.json) | $(PLOTS)  ## Measure and plot the accuracy and time of train --effort and of other methods.
	$(VENV)/bin/python tests/benchmarks/efforts_picture.py $^ --titles IMDB SST-2 SST-5 TREC -o tests/benchmarks/efforts.svg

languages: $(INSTALLED)  ## Measure whether predict --details recognises other languages and program code.
	$(VENV)/bin/python tests/benchmarks/other_languages.py

transfer: $(PLOTS) $(DATA)  ## Measure learning curves on customer reviews for train --start bundled and three other methods.
	$(VENV)/bin/python tests/benchmarks/learning_curve.py $(CR) --films $(DATA) --work build/transfer

faithfulness: $(PLOTS)  ## Measure whether the word effects that nlptx explain shows are faithful to the model.
	$(VENV)/bin/python tests/benchmarks/faithfulness.py data/test.tsv $(wildcard $(CR) $(DATA)) --work build/faithfulness
	$(VENV)/bin/python tests/benchmarks/bench_explain.py

# Ablations: the imdb run without one part of the model, with the same seed and the same word vectors.
imdb-no-regions_TRAIN = --region-filters 0
imdb-no-network_TRAIN = --epochs 0 --region-filters 64
imdb-no-unlabelled_TRAIN = --split train
imdb-no-lsa_TRAIN = --lsa-components 0
imdb-no-ngrams_TRAIN = --ngrams 0
# The imdb run with one setting changed, which might improve the results.
imdb-distillation_TRAIN = --distill 1
imdb-passages_TRAIN = --passages 1
imdb-every-label_TRAIN = --valid-share 0
ABLATIONS := imdb-no-regions imdb-no-network imdb-no-unlabelled imdb-no-lsa imdb-no-ngrams imdb-distillation imdb-passages \
  imdb-every-label
define ABLATION
$(call RUN,$(1),$(1),imdb,imdb,$$(DATA),$$(DATA),--resume)
$(call TABLE,$(1),$$(DATA))
endef
$(foreach name,$(ABLATIONS),$(eval $(call ABLATION,$(name))))
ablations: $(ABLATIONS:%=build/%/table.txt)  ## Run the imdb experiment with one part of the model removed, or one setting changed (12 minutes).

similarity: build/imdb/embeddings.npz  ## Compare the word vectors of the reviews with human similarity ratings of word pairs.
	$(VENV)/bin/python tests/benchmarks/word_similarity.py $< --data $(NLPTX_SHARED_DATA)/wordsim

build/imdb/curve.png: build/imdb/model.npz | $(PLOTS)
	nlptx info $< --plot $@ -q
build/imdb/map.png: build/imdb/embeddings.npz | $(PLOTS)
	nlptx info $< --plot $@ -q
pictures: build/imdb/curve.png build/imdb/map.png  ## Plot the loss curve and a map of the words.

# -- Baselines -----------------------------------------------------------------------------------------------
# The baselines need `pip install '.[bench]'`, and fastText needs its program on the PATH. Baselines whose requirements or
# data sets are missing are skipped.

METHODS := majority vader tfidf nblr nbsvm fasttext
# $(call BASELINES,NAME,METHODS): rules for the baselines of one data set.
define BASELINES
build/baselines/$(1): $(2:%=build/baselines/$(1)/%.json)
.PHONY: build/baselines/$(1)
$(2:%=build/baselines/$(1)/%.json): build/$(1).data | $$(INSTALLED)
	@$$(VENV)/bin/python tests/benchmarks/baselines.py --data $(1) --method $$(basename $$(@F)) --archive $$(DATA) \
	  --shared $$(NLPTX_SHARED_DATA) --out $$(@D)
endef
$(foreach name,imdb sst2 sst5,$(eval $(call BASELINES,$(name),$(METHODS))))
$(eval $(call BASELINES,trec,$(filter-out vader,$(METHODS))))
$(eval $(call BASELINES,cr,vader))
HERE := $(if $(wildcard $(DATA)),imdb) $(foreach name,sst2 sst5 trec cr,$(if $(wildcard $(NLPTX_SHARED_DATA)/$(name)),$(name)))
RUNS := $(wildcard $(foreach name,imdb $(ABLATIONS) goldstraw bloem sst2 sst5 trec cr,build/$(name)/table.txt))

results: $(RUNS) $(HERE:%=build/baselines/%)  ## Compare the runs made so far with the baselines, in one table.
results: $(foreach name,imdb sst2 sst5,$(SEEDS:%=build/$(name)/seed-%/evaluate.json))
	@$(VENV)/bin/python tests/benchmarks/results_table.py build

# With these settings, the bundled model is small enough for the wheel. It is not trained on the test part of the
# archive, because the accuracy on its model card is measured on that part.
default_TRAIN = --epochs 2 --crop 0 --attention-window 128 --passages 1 --new-word-min-count 0 --ngram-min-texts 4 \
  --distill 1 --compact --valid-share 0.04 --valid-max 10000
default_TEXTS = $(DATA) data/train.tsv data/opinions.tsv data/kinds_train.tsv
# The prior of the model's n-gram weights consists of VADER's sentiment lexicon (Hutto and Gilbert 2014; MIT licence),
# from the package vaderSentiment, and of a list of values of emoji and ratings.
VADER_FOLDER = import importlib.util as u; print(u.find_spec("vaderSentiment").submodule_search_locations[0])
DEFAULT := build/default
# Use BLAS kernels that all x86-64 processors of the last ten years support, so that all of them give the same bytes.
default-model: export OPENBLAS_CORETYPE = Haswell
default-model: $(INSTALLED) $(DATA)  ## Retrain the bundled model, which predict uses without -m.
	@mkdir -p $(DEFAULT)
	nlptx cooccur $(default_TEXTS) --max-words 27000 -o $(DEFAULT)/cooccur.npz
	nlptx pca $(DEFAULT)/cooccur.npz --components 64 -o $(DEFAULT)/embeddings.npz
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(PINNED) vaderSentiment
	folder=$$($(VENV)/bin/python -c '$(VADER_FOLDER)') && test -f "$$folder/vader_lexicon.txt" \
	  && cut -f1,2 "$$folder/vader_lexicon.txt" data/emoji.tsv | grep -v '^emoji' > $(DEFAULT)/lexicon.tsv
	nlptx train $(default_TEXTS) -e $(DEFAULT)/embeddings.npz $(default_TRAIN) --lexicon $(DEFAULT)/lexicon.tsv --resume \
	  -o $(DEFAULT)/model.npz
	$(VENV)/bin/python tests/benchmarks/model_card.py $(DEFAULT)/model.npz $(DATA) \
	  --kind 'short texts on six subjects (data/test.tsv)=data/test.tsv' \
	  $(if $(wildcard $(CR)),--kind 'sentences from customer reviews of gadgets (CR)=$(CR)') --output nlptx/default_model.npz
