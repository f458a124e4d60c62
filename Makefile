# DP-Replica. `make help` lists what can be made; every target builds .venv by itself when it is missing.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
PEERS  := .venv-peers
PEERS_STAMP := $(PEERS)/.installed
JOBS     ?=
REPEATS  ?=
EXECUTOR ?=
RESULTS  ?=
PAPER    ?=
TRAININGS ?=
ONLY     ?=
LAYERS   ?=
OVERRIDES = $(if $(JOBS),executor.jobs=$(JOBS)) $(if $(REPEATS),repeats=$(REPEATS)) \
            $(if $(EXECUTOR),executor=$(EXECUTOR)) $(if $(RESULTS),results=$(RESULTS))
WATCHED = $(PAPER) $(if $(JOBS),--jobs $(JOBS)) $(if $(RESULTS),--results $(RESULTS))
FAST = datasets experiments plots $(FAST_TESTS:%=tests/test_%.py)
FAST_TESTS = bands cells claims data_sources datasets domain export feasibility leakage measured plan plots printed ranks readings \
             runner soundness store tradeoffs verdicts verify
PAPERS = $(sort $(filter-out demo benchmark,$(basename $(notdir $(wildcard conf/paper/*.yaml)))))

.DEFAULT_GOAL := help
.PHONY: help install peers demo benchmark reproduce-all report reference readings check bands faults mutants audit hunt verify survive test test-fast lint bench bench-scaling lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z%-]+:.*## /{sub("%", "N", $$1); printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  N is one of: $(PAPERS). With demo, benchmark and reproduce-*: REPEATS=3 JOBS=2 EXECUTOR=local|threads|dask; with report too: RESULTS=folder"
	@echo "  With readings, check and bands: PAPER=2 JOBS=2 RESULTS=folder; with bands: ALGORITHM=rdt, those of one alone; with verify: PAPER=2 REPEATS=3; with audit: TRAININGS=20000 JOBS=2; with hunt: ALGORITHM=rdt JOBS=2"

install: $(STAMP)  ## make .venv from the pinned lock (done by every other target when it is missing)

$(STAMP): requirements.lock pyproject.toml
	@echo "Making $(VENV) from requirements.lock; this takes about a minute and happens once." >&2
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

peers: $(PEERS_STAMP)  ## make .venv-peers: diffprivlib and interpret, for benchmark and bench (done by these when it is missing)

$(PEERS_STAMP): requirements-peers.lock
	@echo "Making $(PEERS) from requirements-peers.lock; this takes a minute or two and happens once." >&2
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-peers.lock
	@touch $@

demo: $(STAMP)  ## a minute's tour on embedded real data, offline: a table and a picture
	$(PY) -m experiments paper=demo $(OVERRIDES)

reproduce-paper-%: $(STAMP)  ## run a paper's experiments and set the printed numbers beside ours
	$(PY) -m experiments paper=$* $(OVERRIDES)

benchmark: $(STAMP) $(PEERS_STAMP)  ## every method on every data set: mean ranks, and which one to take
	$(PY) -m experiments paper=benchmark $(OVERRIDES)

reproduce-all: $(addprefix reproduce-paper-,$(PAPERS))  ## run all papers

report: $(STAMP)  ## gather all papers in results/report/index.html; what did not run here is shown as published
	@$(PY) -m plots.pages.index_page $(or $(RESULTS),results) $(PAPERS) benchmark

reference: $(addprefix reproduce-paper-,$(PAPERS)) readings benchmark audit  ## publish this machine's complete runs in results/reference and the README
	$(PY) -m plots.reference $(PAPERS) benchmark audit

readings: $(STAMP)  ## which reading of an ambiguous text explains what a paper prints?
	$(PY) -m experiments.commands.readings $(WATCHED)

check: $(STAMP)  ## run a part of every paper again: does this code still give what it gave?
	$(PY) -m experiments.commands.check $(WATCHED)

bands: $(STAMP)  ## measure anew what `make check` accepts, from hundreds of runs; about an hour
	$(PY) -m experiments.commands.bands $(WATCHED) $(if $(ALGORITHM),--algorithm $(ALGORITHM))

faults: $(STAMP)  ## show that `make check` notices mistakes in compiled code, each compiled anew: takes long
	$(PY) -m pytest -m slow tests/test_faults.py

mutants: $(STAMP)  ## put mistakes into the lines that privacy rests on: does anything notice? ONLY=thrifty; ten minutes
	$(PY) -m tests.mutants $(if $(ONLY),only=$(ONLY)) $(if $(LAYERS),layers=$(LAYERS)) $(if $(RESULTS),results=$(RESULTS))

audit: $(STAMP)  ## do algorithms keep the ε that they claim? each trained a million times; a quarter of an hour
	$(PY) -m experiments.audit $(if $(TRAININGS),n=$(TRAININGS)) $(if $(JOBS),jobs=$(JOBS)) $(if $(RESULTS),results=$(RESULTS))

hunt: $(STAMP)  ## search for pairs of tables that show most of a forest's privacy loss, for `make audit`; takes long
	NUMBA_DISABLE_JIT=1 PYTHONWARNINGS=ignore $(PY) -m experiments.audit.hunt $(if $(ALGORITHM),"$(ALGORITHM)") $(if $(JOBS),--jobs $(JOBS))

verify: $(STAMP)  ## run a paper with processes, threads, Dask, in another order and after a kill: the same bytes?
	$(PY) -m experiments.commands.verify $(or $(PAPER),2) $(if $(REPEATS),--repeats $(REPEATS))

survive: $(STAMP)  ## kill a sweep of 2,000 cells ten times: is every cell there once?
	$(PY) -m pytest -m slow tests/test_survival.py

test: $(STAMP)  ## the whole test suite
	$(PY) -m pytest -n auto --dist worksteal

test-fast: $(STAMP)  ## an edit loop of under a minute: all but algorithms, audit, peers, the browser and what starts processes
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -n auto --dist worksteal -m "not slow and not long" $(FAST)

lint: $(STAMP)  ## style and simple faults (ruff)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

bench: $(STAMP) $(PEERS_STAMP)  ## speed and memory as ratios measured in one run
	$(PY) -m experiments.commands.speed

bench-scaling: $(STAMP)  ## what the harness costs: beside a bare joblib loop, for 100,000 cells, by executor
	$(PY) -m experiments.commands.scaling

lock:  ## write requirements.lock and requirements-peers.lock anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra dev --extra dask --extra parquet --extra secure pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group peers -o requirements-peers.lock

clean:  ## remove .venv, .venv-peers and compiled caches; results stay
	rm -rf $(VENV) $(PEERS) .cache .pytest_cache .ruff_cache
