# make demo   evaluate the expert, a random agent and a small language model, and print the table
# make test   everything the continuous integration runs
#
# Both make their own virtual environment in .venv and install what they need; the second run is
# quick. PYTHON names the interpreter (3.11 or newer). On Linux the package index serves PyTorch
# with CUDA; PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu takes the CPU build instead.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint unit bench clean
.DELETE_ON_ERROR:

demo: $(VENV)/.demo
	$(BIN)/agentgym demo

test: lint unit

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(VENV)/.dev
	$(BIN)/agentgym models fetch smollm2
	$(BIN)/python -m pytest -n 2 --dist worksteal

# The benchmarks that need no peers; benchmarks/README.md has the rest.
bench: $(VENV)/.dev
	$(BIN)/python benchmarks/import_time.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python -m benchmarks.babyai --write
	$(BIN)/python benchmarks/sciworld.py --write
	$(BIN)/python benchmarks/bird.py --write
	$(BIN)/python benchmarks/tools.py --output benchmarks/results/tools.md

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "agentgym needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml constraints/dev.txt | $(VENV)/bin/python
	@echo "Installing agentgym with its environments and llama.cpp into $(VENV) ..."
	$(PIP) install -e '.[envs,llamacpp]' -c constraints/dev.txt
	@touch $@

# PyTorch first: asked for by name and version, it is not resolved to a CUDA build by others.
$(VENV)/.dev: pyproject.toml constraints/dev.txt | $(VENV)/bin/python
	@echo "Installing agentgym with everything its tests need into $(VENV) ..."
	$(PIP) install 'torch' -c constraints/dev.txt
	$(PIP) install -e '.[all,dev]' -c constraints/dev.txt
	@touch $@ $(VENV)/.demo

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
