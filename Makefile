# `make demo` and `make test` are all a newcomer needs; each installs what it uses into .venv, and does so again only
# when the sources of the native core or pyproject.toml changed.
SHELL  := bash
VENV   := .venv
PYTHON ?= python3
BIN    := $(CURDIR)/$(VENV)/bin
CORE   := pyproject.toml native/CMakeLists.txt $(wildcard native/src/*)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint format bench asan clean

demo: $(VENV)/.installed
	@echo "== demo"
	@$(BIN)/trisweep demo

test: $(VENV)/.installed-test
	@echo "== tests"
	@$(BIN)/python -m pytest

lint: $(VENV)/.installed-test
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

format: $(VENV)/.installed-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.installed-bench
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	@rm -rf $(VENV) build out

$(VENV)/.toolchain: pyproject.toml
	@test -x $(BIN)/python || { echo "== creating $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "== installing the build tools into $(VENV)"
	@$(PIP) install 'scikit-build-core>=0.11' 'nanobind>=2.4' cmake ninja
	@touch $@

# Without build isolation the paths of the tools stay put, so that CMake recompiles only what changed.
$(VENV)/.installed: $(VENV)/.toolchain $(CORE)
	@echo "== installing trisweep into $(VENV) (the first time, this compiles the native core)"
	@$(PIP) install --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-%: $(VENV)/.installed
	@echo "== installing the '$*' extra into $(VENV)"
	@$(PIP) install --no-build-isolation --editable '.[$*]'
	@touch $@
