# Two commands: `make demo` sets up the core and shows what it does, `make test` sets up everything and checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --no-compile  # what is used compiles itself
LOCK := requirements/lock.txt
S3 := requirements/s3.txt
EXTRAS := torch,openvino,ray,ray-serve,serve,plots,datasets,heic,raw,bulk

.PHONY: demo test check bench fuzz docs docs-serve clean lock format

demo: $(VENV)/core.stamp
	@echo 'viewvote classify examples/photos --labels-file examples/labels.txt --views 64 --explain demo-output --overwrite'
	@$(BIN)/viewvote classify examples/photos --labels-file examples/labels.txt --views 64 --explain demo-output --overwrite
	@echo "Why, as pictures: demo-output/index.html"

# One process more than cores, as tests on Ray mostly wait; four at most, for memory.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(min(4, os.cpu_count() + 1))')

test: check
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --cov --cov-report=term
	$(BIN)/coverage report --fail-under=95 --include="$(PURE)"

check: $(VENV)/all.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# The modules whose every branch can be tested without a model.
PURE := src/viewvote/errors.py,src/viewvote/prediction/*,src/viewvote/arrays.py,src/viewvote/rng.py,src/viewvote/registry.py,src/viewvote/vote.py,src/viewvote/files.py,src/viewvote/reading.py,src/viewvote/outputs.py,src/viewvote/fields.py,src/viewvote/records/*,src/viewvote/metrics/*,src/viewvote/images/*,src/viewvote/views/*,src/viewvote/labels/*,src/viewvote/classify/*,src/viewvote/stopping/*,src/viewvote/methods/*

# `make bench DATA=folder/of/photographs` also measures accuracy and writes docs/results/performance.md; cut off, it goes on where
# it ended (BENCH=--anew starts over), and `make bench BENCH=--quick` is a trial.
bench: $(VENV)/all.stamp
	$(BIN)/python -m benchmarks.views
	$(BIN)/python -m benchmarks.endtoend $(if $(DATA),--data $(DATA) --write) $(BENCH)

# Hostile inputs for so many minutes; TARGET=images,tables are some of the targets. What is found lies in fuzz/found.
MINUTES ?= 10
fuzz: $(VENV)/all.stamp
	$(BIN)/python -m fuzz --minutes $(MINUTES) $(if $(TARGET),--target $(TARGET))

# The site, offline, with every warning and every reference that leads nowhere an error.
docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --nitpicky --quiet -b html docs build/site
	@echo "build/site/index.html"

docs-serve: docs
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8009

format: $(VENV)/all.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What CI installs, exactly: made from a fresh environment of the newest releases that pyproject.toml admits.
lock: $(VENV)/all.stamp
	$(BIN)/python -m pip freeze --exclude-editable --all | grep -vE '^(viewvote|setuptools|wheel)[ =@]' | grep -vixFf $(S3) > $(LOCK)

$(VENV)/python.stamp:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "viewvote needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12 ...")'
	@echo "Creating $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --constraint $(LOCK) --upgrade pip
	@touch $@

$(VENV)/core.stamp: pyproject.toml $(LOCK) | $(VENV)/python.stamp
	@echo "Installing the core ..."
	@$(PIP) --constraint $(LOCK) --editable .
	@touch $@

$(VENV)/all.stamp: pyproject.toml $(LOCK) $(S3) | $(VENV)/core.stamp
	@echo "Installing everything (torch and its friends are several gigabytes) ..."
	@$(PIP) --constraint $(LOCK) --editable ".[$(EXTRAS)]" --group dev --group docs
	@$(BIN)/viewvote models get clip-b16  # OpenAI's image tower, for its tests
	@$(PIP) --no-deps --requirement $(S3)
	@touch $@

$(VENV)/docs.stamp: pyproject.toml $(LOCK) | $(VENV)/core.stamp
	@echo "Installing what makes the site ..."
	@$(PIP) --constraint $(LOCK) --editable . --group docs
	@touch $@

clean:
	rm -rf $(VENV) build dist .coverage .hypothesis .mypy_cache .pytest_cache .ruff_cache demo-output
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
