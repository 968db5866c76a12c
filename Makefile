# Everything a contributor runs; `make` alone lists it.
# Needed: git, make, Python 3.10 or newer and a package index. All else goes into .venv.

SHELL := /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check
READY := $(VENV)/.installed

# A second environment, because pluggy reads signatures differently in its oldest
# supported release; the first one has the newest.
OLDEST_PLUGGY := 1.6.0
OLDEST := $(VENV)/pluggy-$(OLDEST_PLUGGY)
OLDEST_READY := $(OLDEST)/.installed
PLUGGY_FACING := $(wildcard tests/activation tests/gate tests/surfaces tests/inventory tests/host tests/test_host*.py)

WORKERS ?= 2
BUILT_DOCS := docs/_build/html
PYTEST := $(PY) -m pytest
NONE_YET = [ $$? -eq 5 ] # pytest's exit status when no test carries the marker
STAGE = @printf '\n=== %s\n' "$@ -- $(1)"

.PHONY: help venv demo test test-long test-ecosystem bench docs fmt changelog clean \
	lint format types layers docs-strict pluggy-oldest suite

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-22s %s\n", $$1, $$2}'

demo: $(READY) ## see a bundle listed, approved, imported on its first call, refused after a change
	@$(PY) docs/examples/demo.py

# One after the other, cheapest first, so that the first failure is the last thing printed;
# the main run of pytest stands last because its summary is what a reader looks for.
STAGES := lint format types layers docs-strict pluggy-oldest suite

test: $(READY) $(OLDEST_READY) ## everything that must pass before a change is accepted
	@for stage in $(STAGES); do \
		$(MAKE) --no-print-directory $$stage || { echo "make test: stage '$$stage' failed" >&2; exit 1; }; \
	done

test-long: $(READY) ## the tests that take longer than make test allows; writes docs/long-tests.md
	LIONPLUG_SEARCH=1 LIONPLUG_RESULTS_PAGE=docs/long-tests.md LIONPLUG_RESULTS_TITLE="Long tests" \
		$(PYTEST) -n $(WORKERS) -m long || $(NONE_YET)

test-ecosystem: $(READY) ## the tests with real third-party plugins and hosts
	$(PYTEST) -n $(WORKERS) -m ecosystem || $(NONE_YET)

bench: $(READY) ## measure, print one table, and write it to docs/performance.md
	LIONPLUG_PERFORMANCE_PAGE=docs/performance.md $(PYTEST) tests/benchmarks -q -m benchmark

docs: $(READY) ## build the documentation site
	$(PY) -m sphinx -q -b html docs $(BUILT_DOCS)
	@echo "built: $(BUILT_DOCS)/index.html"

fmt: $(READY) ## sort imports, fix what can be fixed, format, write the generated docs
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(PY) docs/generate.py

changelog: $(READY) ## show what the next release notes will say
	$(PY) -m towncrier build --draft

venv: $(READY) ## create or update .venv

clean: ## remove what the other targets made, except .venv
	rm -rf docs/_build build dist .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis .benchmarks .import_linter_cache htmlcov *.egg-info .coverage .coverage.*
	find lionplug hookspecs contrib tests docs -name __pycache__ -type d -prune -exec rm -rf {} +

# The stages of `make test`, each usable alone.

lint: $(READY)
	$(call STAGE,ruff check)
	@$(PY) -m ruff check .

format: $(READY)
	$(call STAGE,ruff format --check (make fmt mends it))
	@$(PY) -m ruff format --check .

types: $(READY)
	$(call STAGE,mypy --strict)
	@$(PY) -m mypy

layers: $(READY)
	$(call STAGE,lint-imports)
	@$(BIN)/lint-imports --no-logo --no-cache

docs-strict: $(READY)
	$(call STAGE,the documentation with warnings as errors)
	@$(PY) -m sphinx -q -E -W --keep-going -b html docs $(BUILT_DOCS)

pluggy-oldest: $(OLDEST_READY)
	$(call STAGE,pytest with pluggy $(OLDEST_PLUGGY): $(PLUGGY_FACING))
	@$(OLDEST)/bin/python -c 'import sys, pluggy; sys.exit(pluggy.__version__ != "$(OLDEST_PLUGGY)")'
	@$(OLDEST)/bin/python -m pytest -q -n $(WORKERS) $(PLUGGY_FACING)

suite: $(READY)
	$(call STAGE,pytest with branch coverage)
	@$(PYTEST) -q -n $(WORKERS) --cov --cov-report=term

# Environments. A stamp file, so that they are brought up to date when the metadata changes.

$(PY):
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 python3.10; do \
		$$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || continue; \
		echo "creating $(VENV) with $$python: $$($$python --version)"; \
		exec $$python -m venv $(VENV); \
	done; \
	echo "lionplug needs Python 3.10 or newer with its venv module; python3 here: $$(python3 --version 2>&1)." >&2; \
	echo "Install one (Debian: python3 and python3-venv), or name it: make PYTHON=/path/to/python3 $(MAKECMDGOALS)" >&2; \
	exit 1

# Build isolation needs setuptools from an index; without one, that of the environment will do.
$(READY): setup.cfg pyproject.toml | $(PY)
	@echo "installing lionplug and its development tools into $(VENV) (about a minute; needs a package index)"
	@$(PIP) install --quiet -e '.[dev]' || $(PIP) install --quiet --no-build-isolation -e '.[dev]'
	@touch $@

$(OLDEST_READY): setup.cfg pyproject.toml | $(READY)
	@echo "installing lionplug with pluggy $(OLDEST_PLUGGY) into $(OLDEST) (about a minute; needs a package index)"
	@$(PY) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip --disable-pip-version-check install --quiet -e '.[test]' pluggy==$(OLDEST_PLUGGY)
	@touch $@
