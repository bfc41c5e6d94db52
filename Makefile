# `make demo` and `make test` are all a newcomer needs; each installs what it uses into .venv, and does so again only
# when the sources of the native core or pyproject.toml changed.
SHELL   := bash
VENV    := .venv
PYTHON  ?= python3
BIN     := $(CURDIR)/$(VENV)/bin
SOURCES := $(shell find native/src -name "*.?pp")
CORE    := pyproject.toml native/CMakeLists.txt $(SOURCES)
COMMA   := ,
PIP     := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test lint types stubs format bench fuzz asan tsan clean

demo: $(VENV)/.installed
	@echo "== demo"
	@$(BIN)/trisweep demo

test: $(VENV)/.installed-test
	@echo "== tests"
	@$(BIN)/python -m pytest --numprocesses auto --dist worksteal

lint: $(VENV)/.installed-test types
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/clang-format --dry-run -Werror $(SOURCES)

# The checker wants folders with the names that are imported: build/types/trisweep links to the rooms.
ROOMS := native riccati adjoint dynamics drawing ocp problems
types: $(VENV)/.installed-test
	@echo "== types"
	@rm -rf build/types/trisweep && mkdir -p build/types/trisweep
	@ln -s $(CURDIR)/toolkit/trisweep/*.py $(addprefix $(CURDIR)/,$(ROOMS)) build/types/trisweep
	@ln -sf $(CURDIR)/tests/toolkit/typed_use.py build/types
	@set -o pipefail; $(BIN)/mypy | sed 's#^build/types/trisweep/##'

# After a change of the bindings: what the checker knows of the core.
stubs: $(VENV)/.installed-test
	@$(BIN)/python tests/support/core_stub.py

format: $(VENV)/.installed-test
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(SOURCES)

bench: $(VENV)/.installed-bench
	@for script in bench/*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Ten times the inputs of tests/faults.
fuzz: $(VENV)/.installed-test
	@echo "== fuzzing"
	@TRISWEEP_FUZZ=10 $(BIN)/python -m pytest --numprocesses auto --dist worksteal tests/faults

# The core's tests on a core built under sanitizers: $(1) where, $(2) which, $(3) their libraries, $(4) the tests, a
# worker a processor. `python -S` keeps the editable install out of the way of the instrumented one, and what else .pth
# files say is said again. Neither a terminal in the background nor one that nobody reads from can stop it: such signals
# are ignored, and there is nothing to read.
JOBS ?= $(shell nproc 2> /dev/null || echo 2)
define sanitized
	@echo "== building the core under $(2)"
	@$(PIP) install --no-build-isolation --no-deps --upgrade --target build/$(1)/site . \
	  --config-settings=build-dir=build/$(1)/cmake --config-settings=cmake.define.TRISWEEP_SANITIZE=$(2)
	@echo "== the core's tests under it"
	@cc -shared -fPIC -o build/$(1)/no_deepbind.so tests/support/no_deepbind.c -ldl
	@trap '' TTOU TTIN; LD_PRELOAD="$(CURDIR)/build/$(1)/no_deepbind.so $(foreach library,$(3),$$(cc -print-file-name=$(library).so))" \
	  TRISWEEP_SANITIZED=$(2) TRISWEEP_LEVEL=baseline \
	  ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 \
	  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  TSAN_OPTIONS=halt_on_error=1:report_signal_unsafe=0 \
	  PYTHONPATH=$(CURDIR)/build/$(1)/site:$$($(BIN)/python -c 'import sys; print(*(p for p in sys.path if "site-packages" in p), sep=":")') \
	  $(BIN)/python -S -c 'import sys, pytest; sys.exit(pytest.main(sys.argv[1:]))' -p no:cacheprovider --capture=sys \
	  --dist worksteal --tx '$(JOBS)*popen//python=$(BIN)/python -S' $(4) < /dev/null
endef

# Whatever runs the core, but for what counts allocations or starts processes of its own.
asan: $(VENV)/.installed-test
	$(call sanitized,asan,address$(COMMA)undefined,libasan libubsan libstdc++,tests/native tests/riccati tests/ocp \
	  --ignore=tests/native/test_allocations.py --ignore=tests/ocp/many/test_executor.py \
	  tests/dynamics/test_recursion.py tests/dynamics/test_recursive_code.py tests/dynamics/test_compiled.py \
	  tests/problems/test_planning.py tests/faults/test_threads.py tests/faults/test_injected_faults.py \
	  tests/faults/test_fuzz_optimal_control.py tests/faults/test_fuzz_tables_and_steps.py \
	  tests/faults/test_fuzz_matrices_and_bodies.py tests/faults/test_fuzz_planning.py tests/faults/test_fuzz_many.py)

# Whatever runs it on several threads.
tsan: $(VENV)/.installed-test
	$(call sanitized,tsan,thread,libtsan libstdc++,tests/ocp/solve/test_watching.py tests/ocp/solve/test_portfolio.py \
	  tests/ocp/many/test_many.py tests/ocp/control tests/ocp/statement/test_stage_functions.py tests/faults/test_threads.py)

clean:
	@rm -rf $(VENV) build out

$(VENV)/.toolchain: pyproject.toml
	@test -x $(BIN)/python || { echo "== creating $(VENV) with $$($(PYTHON) --version)"; $(PYTHON) -m venv $(VENV); }
	@echo "== installing the build tools into $(VENV)"
	@$(PIP) install 'scikit-build-core>=0.11' 'nanobind>=2.4' 'numpy>=2' cmake ninja
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
