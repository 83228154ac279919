# Every target works from a clean clone with Python 3.11+, git and make alone.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header $(UPGRADE)

.DEFAULT_GOAL := setup
.PHONY: help setup run test conformance check fix bench snap lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

setup: $(READY) ## create or refresh the environment in .venv

run: $(READY) ## start the server in the foreground
	$(BIN)/quarterdeck up $(ARGS)

test: $(READY) ## run the tests; ARGS="tests/domain -k memory" narrows them
	$(BIN)/pytest -n auto $(ARGS)

conformance: $(READY) ## the part of the tests that official MCP suites and the Inspector make
	$(BIN)/pytest -v tests/conformance $(ARGS)

check: $(READY) ## lint, formatting, types and import rules
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright # the version is the lock's; look for no other
	$(BIN)/lint-imports

fix: $(READY) ## format, and repair what ruff can repair
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY) ## measure, and print a table of ratios
	$(BIN)/python -m bench $(ARGS)

snap: $(READY) ## accept the tools' definitions as they are now
	QUARTERDECK_UPDATE_SNAPS=1 $(BIN)/pytest tests/contract/test_tool_surface.py tests/cli/test_reference.py

lock: $(READY) ## resolve the locks anew; UPGRADE=--upgrade takes newer versions
	$(COMPILE) pyproject.toml --output-file requirements/runtime.txt
	$(COMPILE) pyproject.toml --group dev --extra otel --constraints requirements/runtime.txt \
		--output-file requirements/dev.txt
	$(COMPILE) requirements/uv.in --constraints requirements/dev.txt --output-file requirements/uv.txt

clean: ## remove the environment and everything generated
	rm -rf $(VENV) dist .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache

# The hashes of the locks hold for uv itself too; the backend comes from the lock, not from the net.
$(READY): pyproject.toml requirements/dev.txt requirements/uv.txt
	@$(PYTHON) scripts/check_python.py
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip sync --quiet --python $(BIN)/python --require-hashes requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@
