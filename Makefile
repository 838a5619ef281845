# Every target sets up what it needs, on a fresh machine too: `make test` is enough after a clone.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.ready
DEMO   := build/demo
JOBS   := $(shell nproc 2>/dev/null || echo 2)

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## the virtual environment in .venv, with dfc in .venv/bin
	@.ci/prepare compiler

$(STAMP): pyproject.toml setup.py
	@PYTHON=$(PYTHON) .ci/prepare all $(VENV)

test: setup ## run the tests
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(TESTS)

soak: setup ## run the slow tests: more random programs, longer streams
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup -m slow $(TESTS)

sanitize: setup ## run the C tests, the conformance cases and random programs with patterns under the address, undefined-behaviour and thread sanitizers
	@.ci/sanitize $(BIN)

fuzz: setup ## a million hostile inputs for each format, at most 15 minutes each
	@$(BIN)/python -m tests.fuzz.harness 1000000 900

demo: setup ## compile and run the trading example on generated quotes
	@.ci/demo $(BIN) $(DEMO)

demo-control: setup ## the trading example under a load that rises and falls: workers and alternates follow
	@$(BIN)/python examples/trading/live.py --dfc $(BIN)/dfc --folder build/demo-control

demo-loop: setup ## the full loop: run with logs, ingest, profile, optimize, compile with the new plan, run again (needs Java)
	@$(BIN)/python examples/full_loop/loop.py --dfc $(BIN)/dfc --folder build/demo-loop

bench: setup ## measure against hand-written C, side by side; QUICK=1 for a tenth of the records, ROWS=csv,patterns for some
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'numpy>=1.26' 'duckdb>=1.1' 'polars>=1.0' 'bytewax>=0.21'
	@$(BIN)/python benchmarks/run.py $(if $(QUICK),--scale 0.1 --output build/bench/QUICK.md) $(if $(ROWS),--rows $(ROWS))

lint: setup ## check the Python style
	@$(BIN)/python -m pip install -q --disable-pip-version-check ruff
	@$(BIN)/ruff check .

clean: ## remove what was made, the virtual environment too
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .ruff_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help setup test soak sanitize fuzz demo demo-control demo-loop bench lint clean
.DEFAULT_GOAL := help
