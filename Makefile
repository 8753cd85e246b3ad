# Two commands on a fresh machine: `make run` and `make test`. PYTHON=python3.12 chooses the interpreter.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
CALLFOLD := $(VENV)/bin/callfold
PATHS ?= examples/calls
OUT ?= out
FUZZ_SECONDS ?= 300

.DEFAULT_GOAL := help
.PHONY: help setup run test test-crash test-model check up down flower bench bench-recovery bench-model bench-read fuzz lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

setup: $(VENV)/installed ## make .venv and install everything, test tools included

$(VENV)/installed: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --disable-pip-version-check --quiet --require-hashes -r requirements.lock
	$(PY) -m pip install --disable-pip-version-check --quiet --no-deps --no-build-isolation -e .
	@touch $@

run: setup ## run the main job on examples/calls (PATHS=...) and write its bundle to out (OUT=...)
	@$(CALLFOLD) run $(PATHS) --out $(OUT)

test: setup ## run all tests
	@$(PY) -m pytest --numprocesses 2 --dist loadfile $(PYTEST_FLAGS)

test-crash: setup ## kill everything everywhere, and print the tables of docs/reliability.md
	@$(PY) -m pytest tests/flow/crash $(PYTEST_FLAGS)

test-model: setup ## the client and a job on a real model server (MODEL_URL=http://…/v1)
	@MODEL_URL=$(MODEL_URL) $(PY) -m pytest tests/flow/model -s $(PYTEST_FLAGS)

check: setup ## lint, types and import rules
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

up: setup ## keep servers, workers, beat and Flower running in the background
	@$(CALLFOLD) up

flower: up ## the same, for watching: address and password are printed

down: setup ## stop what `make up` started
	@$(CALLFOLD) down

bench: setup ## print the table of docs/performance.md
	@$(PY) -m benchmarks

bench-recovery: setup ## measure only fairness and the cost beside an old snapshot
	@$(PY) -m benchmarks --only fairness snapshot

bench-model: setup ## measure only 500 documents through a model server that takes its time
	@$(PY) -m benchmarks --only model

bench-read: setup ## measure only reading: WebVTT beside two libraries, and a folder of small files
	@$(PY) -m benchmarks --only read

fuzz: setup ## throw bytes at the readers for FUZZ_SECONDS (300)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) $(PY) -m pytest tests/fuzz -s --timeout 0 $(PYTEST_FLAGS)

lock: ## pin every dependency with its hashes; needs uv
	uv pip compile --universal --generate-hashes --no-header --no-emit-index-url --no-annotate --extra dev \
		pyproject.toml -o requirements.lock

clean: ## remove .venv and caches; data in .callfold and bundles in out stay
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis
