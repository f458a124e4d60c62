# DP-Replica. `make help` lists what can be made; every target builds .venv by itself when it is missing.
PYTHON ?= python3
VENV   := .venv
PY     := $(VENV)/bin/python
STAMP  := $(VENV)/.installed
PEERS  := .venv-peers
PEERS_STAMP := $(PEERS)/.installed
PEERS_JAX_STAMP := $(PEERS)-jax/.installed
PAPER     ?=
ALGORITHM ?=
REPEATS   ?=
MOST_REPEATS ?=
TRAININGS ?=
JOBS      ?=
EXECUTOR  ?=
RESULTS   ?=
ONLY      ?=
LAYERS    ?=
# Settings of the commands, for all targets alike; a command that has no such setting says so.
WHICH = $(if $(PAPER),paper=$(PAPER))
WHERE = $(if $(RESULTS),results=$(RESULTS))
HOW   = $(if $(ALGORITHM),algorithm=$(ALGORITHM)) $(if $(REPEATS),repeats=$(REPEATS)) \
        $(if $(MOST_REPEATS),most_repeats=$(MOST_REPEATS)) \
        $(if $(TRAININGS),trainings=$(TRAININGS)) $(if $(EXECUTOR),executor=$(EXECUTOR)) \
        $(if $(JOBS),executor.jobs=$(JOBS)) $(WHERE)
RUN = $(PY) -m experiments
FAST = datasets experiments plots $(FAST_TESTS:%=tests/test_%.py)
FAST_TESTS = bands cells claims comparisons data_sources datasets domain export feasibility layout leakage looks measured multiverse papers plan printed ranks \
             readings runner schema sequential_test soundness standings store summary tradeoffs verdicts verify
COMMA := ,
SPACE := $(subst ,, )
PAPERS = $(sort $(filter-out demo benchmark benchmark-heavy,$(basename $(notdir $(wildcard conf/paper/*.yaml)))))

# What Python and pytest make of a file to run it is kept: to make all of it anew costs each start of the suite some seconds.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: notebooks results help install peers peers-jax demo benchmark benchmark-heavy decide reproduce-all report list reference pages redraw readings crossing calibrate check bands damage faults mutants sanitize audit hunt verify survive test test-system test-all test-fast lint docs wheel bench bench-scaling bench-large lock clean

help:  ## list the targets
	@awk -F ':.*## ' '/^##@ /{printf "%s%s\n", sep, substr($$0, 5); sep = "\n"} \
		/^[a-z%-]+:.*## /{sub("%", "N", $$1); printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "N is one of: $(PAPERS). Settings: PAPER=1,2 ALGORITHM=rdt REPEATS=3 TRAININGS=20000 JOBS=2"
	@echo "EXECUTOR=local|threads|dask RESULTS=folder, where the command has them: dp-replica NAME --help"

# uv takes a third of what pip takes, but has settings of its own: where it reaches no index, as it does not read pip's settings, pip goes on.
# Either checks the same hashes. To compile modules on every core takes less than pip would; nobody imports the tests of others.
PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-deps
define fill_environment
$(PYTHON) -m venv $(1)
-@$(1)/bin/python $(PIP_INSTALL) --only-binary :all: --require-hashes -r requirements-installer.lock
@$(1)/bin/uv pip install --quiet --python $(1)/bin/python --no-deps --require-hashes -r $(2) || { \
	echo "uv cannot fill $(1) here: pip does, which takes a while longer." >&2; \
	$(1)/bin/python $(PIP_INSTALL) --no-compile --require-hashes -r $(2); }
-@$(1)/bin/python -m compileall -q -j 0 -x '/tests?/' $(1)/lib
endef

$(STAMP): requirements.lock pyproject.toml
	@echo "Making $(VENV) from requirements.lock; this takes a minute or two and happens once." >&2
	$(call fill_environment,$(VENV),requirements.lock)
	$(PY) $(PIP_INSTALL) --no-build-isolation -e .
	@{ command -v c++ || command -v g++ || command -v clang++; } >/dev/null || $(PY) $(PIP_INSTALL) --require-hashes -r requirements-compiler.lock
	@$(PY) -m algorithms.native
	@touch $@

$(PEERS_STAMP): requirements-peers.lock
	@echo "Making $(PEERS) from requirements-peers.lock; this takes a minute or two and happens once." >&2
	$(call fill_environment,$(PEERS),requirements-peers.lock)
	@touch $@

$(PEERS_JAX_STAMP): requirements-peers-jax.lock
	@echo "Making $(PEERS)-jax from requirements-peers-jax.lock; this takes a minute or two and happens once." >&2
	$(call fill_environment,$(PEERS)-jax,requirements-peers-jax.lock)
	@touch $@

##@ reproduce
demo: $(STAMP)  ## a minute's tour on embedded real data, offline: a table and a picture
	$(RUN) paper=demo $(HOW)

reproduce-paper-%: $(STAMP)  ## run a paper's experiments and set the printed numbers beside ours
	$(RUN) paper=$* $(HOW)

reproduce-paper-6 reproduce-all: $(PEERS_STAMP)  # a column of paper 6 is diffprivlib's

reproduce-all: $(STAMP)  ## run all papers
	$(RUN) paper=$(subst $(SPACE),$(COMMA),$(PAPERS)) $(HOW)

benchmark: $(STAMP) $(PEERS_STAMP)  ## private methods and peers on 28 data sets: mean ranks, and which one to take
	$(RUN) paper=benchmark $(HOW)

benchmark-heavy: $(STAMP) $(PEERS_JAX_STAMP)  ## a smaller run with peers whose fits take up to a minute: DP-SGD and MST
	$(RUN) paper=benchmark-heavy $(HOW)

decide: $(STAMP)  ## is it true? as many repeats as the claims of a paper take, and no tables or figures; PAPER=4
	$(RUN) do=decide $(WHICH) $(HOW)

crossing: $(STAMP)  ## would a paper's claims hold on further rows? Splits are crossed with draws of the noise
	$(RUN) do=crossing $(WHICH) $(HOW)

redraw: $(STAMP)  ## draw the figures of runs anew from their files, after a label or a colour changed; RESULTS=results/reference
	$(RUN) do=redraw $(WHICH) $(HOW)

readings: $(STAMP)  ## which reading of a text explains what a paper prints, and under which do its claims hold?
	$(RUN) do=readings $(WHICH) $(HOW)

report: $(STAMP)  ## gather all papers in results/report/index.html; what did not run here is shown as published
	@$(RUN) do=report $(WHICH) $(WHERE)

results: $(STAMP)  ## look around in what the store has: ARGS="dataset=car epsilon=1"
	@$(RUN) do=results output=table $(WHERE) $(ARGS)

list: $(STAMP)  ## what there is: algorithms by kind, data sets by task, papers
	@for what in algorithms datasets papers; do $(RUN) do=list what=$$what && echo; done

##@ is it right?
check: $(STAMP)  ## run a part of every paper again: does this code still give what it gave?
	$(RUN) do=check $(WHICH) $(HOW)

verify: $(STAMP)  ## run a paper with processes, threads, Dask, in another order and after a kill: the same bytes?
	$(RUN) do=verify $(WHICH) $(HOW)

calibrate: $(STAMP)  ## how often are verdicts on claims wrong, and how many runs do they take? Simulated; some minutes
	$(RUN) do=calibrate $(HOW)

audit: $(STAMP)  ## do algorithms keep the ε that they claim? each trained a million times; twenty minutes
	$(RUN) do=audit $(HOW)

test: $(STAMP)  ## algorithms against references, kernels, data, stores, verdicts, commands: three to four minutes on two cores
	$(PY) -m pytest -n auto --dist worksteal -m "not slow and not system and not long"

test-system: $(STAMP)  ## the rest: audits, figures, pages, a wheel, the site, a browser, killed workers, the contributors' examples
	$(PY) -m pytest -n auto --dist worksteal -m "(system or long) and not slow" tests

test-all: $(STAMP)  ## both in one run, which starts and collects once: the gate; names the twenty slowest at its end
	$(PY) -m pytest -n auto --dist worksteal -m "not slow" --durations=20

test-fast: $(STAMP)  ## an edit loop of under a minute: all but algorithms, audit, peers, the browser and what starts processes
	$(PY) -m pytest -n auto --dist worksteal -m "not slow and not system and not long" $(FAST)

lint: $(STAMP)  ## style and simple faults (ruff), types (mypy)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

notebooks: $(STAMP)  ## write the examples of the gallery as notebooks, which `new notebooks` copies
	$(PY) docs/notebooks.py

docs: $(STAMP)  ## build the documentation in site/, warnings as errors; a minute, less where only some pages changed
	$(PY) -m sphinx -b html -c docs -d .cache/site -W --keep-going -j auto . site

wheel:  ## build a wheel for this version of Python in dist/, and import it in an environment of its own
	@rm -rf dist
	@$(PYTHON) -m venv dist/environment
	@dist/environment/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	@dist/environment/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	@cd dist && environment/bin/python -c "from dp_replica.algorithms.native import is_plain; assert not is_plain()" && ls *.whl

survive: $(STAMP)  ## kill a sweep ten times, let each call that writes fail: is all there, once and whole? Takes long
	$(PY) -m pytest -m slow tests/test_survival.py tests/test_injected_faults.py

damage: $(STAMP)  ## edit files of releases a quarter of a million times: is each refused, or a model? Some minutes
	$(PY) -m pytest -m slow tests/test_damaged_releases.py

faults: $(STAMP)  ## show that `make check` notices mistakes in C++, compiled once for all: takes long
	$(PY) -m pytest -m slow tests/test_faults.py

mutants: $(STAMP)  ## put mistakes into the lines that privacy rests on: does anything notice? ONLY=thrifty; an hour
	$(PY) -m tests.mutants $(if $(ONLY),only=$(ONLY)) $(if $(LAYERS),layers=$(LAYERS)) $(if $(RESULTS),results=$(RESULTS))

sanitize: $(STAMP)  ## kernels under g++'s sanitizers: tests of twins, and a fuzz of all estimators; up to ten minutes
	$(PY) -m tests.sanitize

bench: $(STAMP) $(PEERS_STAMP)  ## speed and memory as ratios measured in one run
	$(RUN) do=speed
	$(RUN) do=costs paper=benchmark $(WHERE)

bench-scaling: $(STAMP)  ## what the harness costs: beside a bare joblib loop, for a million cells, by executor
	$(RUN) do=speed part=scaling

bench-large: $(STAMP)  ## ten million rows: fits beside scikit-learn, peak memory, reading of CSV and Parquet; some twenty minutes
	$(RUN) do=speed part=large

##@ maintain
install: $(STAMP)  ## make .venv from the pinned lock (done by every other target when it is missing)
	@echo "source $(VENV)/bin/activate enters the environment: then dp-replica --help lists commands."

peers: $(PEERS_STAMP)  ## make .venv-peers: diffprivlib and interpret, for benchmark and bench (done by these when it is missing)

peers-jax: $(PEERS_JAX_STAMP)  ## make .venv-peers-jax: jax-privacy and private-pgm, for dp_sgd and mst_*

bands: $(STAMP)  ## measure anew what `make check` accepts, from hundreds of runs; about an hour
	$(RUN) do=bands $(WHICH) $(HOW)

hunt: $(STAMP)  ## search for pairs of tables that show most of a forest's privacy loss, for `make audit`; takes long
	$(RUN) do=hunt $(HOW)

reference: $(addprefix reproduce-paper-,$(PAPERS)) readings benchmark benchmark-heavy audit  ## publish this machine's complete runs in results/reference, its pages and the README
	$(RUN) do=reference $(WHICH) $(WHERE)

pages: $(STAMP)  ## write anew what is generated: pages of published runs, the README's table, the schema and keys of papers
	$(RUN) do=reference pages_only=true

lock:  ## write requirements.lock and those of peers, installer and compiler anew from pyproject.toml (needs uv)
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --extra dev --extra dask --extra parquet --extra secure pyproject.toml -o requirements.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group peers -o requirements-peers.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group peers-jax -o requirements-peers-jax.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group installer -o requirements-installer.lock
	uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --group compiler -o requirements-compiler.lock

clean:  ## remove .venv, those of the peers, compiled caches, wheels and the site; results stay
	rm -rf $(VENV) $(PEERS) $(PEERS)-jax algorithms/native/kernels* .cache .pytest_cache .ruff_cache build dist site docs/auto_gallery
