# `make demo` and `make test` are all a newcomer needs; each installs what it uses into .venv, and does so again only
# when the sources of the native core or pyproject.toml changed.
SHELL  := bash
VENV   := .venv
PYTHON ?= python3
BIN    := $(CURDIR)/$(VENV)/bin
CORE   := pyproject.toml native/CMakeLists.txt $(wildcard native/src/*/*)
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint types format bench asan clean

demo: $(VENV)/.installed
	@echo "== demo"
	@$(BIN)/trisweep demo

test: $(VENV)/.installed-test
	@echo "== tests"
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal

lint: $(VENV)/.installed-test
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror native/src/*/*

# The checker wants folders with the names that are imported: build/types/trisweep links to the rooms.
ROOMS := native riccati adjoint dynamics drawing ocp problems
types: $(VENV)/.installed-test
	@echo "== types"
	@rm -rf build/types/trisweep && mkdir -p build/types/trisweep
	@ln -s $(CURDIR)/toolkit/trisweep/*.py $(addprefix $(CURDIR)/,$(ROOMS)) build/types/trisweep
	@ln -sf $(CURDIR)/tests/toolkit/typed_use.py build/types
	@set -o pipefail; $(BIN)/mypy | sed 's#^build/types/trisweep/##'

format: $(VENV)/.installed-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i native/src/*/*

bench: $(VENV)/.installed-bench
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# The core's tests on a core built with AddressSanitizer and UndefinedBehaviorSanitizer. `python -S` keeps the editable
# install out of the way of the instrumented one.
ASAN := build/asan
CORE_TESTS := tests/native/test_instruction_sets.py tests/native/test_kernels.py tests/riccati tests/ocp/test_interior_point.py \
  tests/ocp/test_watching.py tests/ocp/test_scaling.py tests/ocp/test_phases.py tests/ocp/test_manifold_states.py
asan: $(VENV)/.installed-test
	@echo "== building the core with AddressSanitizer and UndefinedBehaviorSanitizer"
	@$(PIP) install --no-build-isolation --no-deps --upgrade --target $(ASAN)/site . \
	  --config-settings=build-dir=$(ASAN)/cmake --config-settings=cmake.define.TRISWEEP_SANITIZE=ON
	@echo "== the core's tests under them"
	@LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so) $$(cc -print-file-name=libstdc++.so)" \
	  TRISWEEP_SANITIZED=1 ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  PYTHONPATH=$(ASAN)/site:$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("platlib"))') \
	  $(BIN)/python -S -c 'import sys, pytest, trisweep.native as n; assert "$(ASAN)" in n.core.__file__; \
	  sys.exit(pytest.main(["-p", "no:cacheprovider", *sys.argv[1:]]))' $(CORE_TESTS)

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
