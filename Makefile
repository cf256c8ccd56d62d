# Every target makes and uses .venv as needed; Python 3.11 or later, make and a package index suffice.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install browser java pictures warm wheel demo check test deep lowest mutate lint format bench bench-scale house siege study docs clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ $(VENV)/.core

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

# Compile all kernels in advance.
warm: install
	$(BIN)/shoal warm

# Once for each installation: two processes of tests would compile most kernels twice.
$(VENV)/.warm: $(VENV)/.installed
	$(BIN)/shoal warm
	touch $@

# A wheel for this Python and platform with compiled kernels; the check runs every command from it.
wheel: install
	rm -rf build/kernels build/wheel
	$(BIN)/shoal warm --store build/kernels
	SHOAL_KERNELS=$(CURDIR)/build/kernels $(BIN)/python -m build --no-isolation --wheel --outdir build/wheel
	SHOAL_WHEEL=$(CURDIR)/build/wheel $(BIN)/python -m pytest tests/test_wheel.py
	mkdir -p dist && cp build/wheel/*.whl dist

demo: $(VENV)/.core
	$(BIN)/shoal demo

# The tests of the web app drive chromium, and those of Spark need Java; without them they are skipped, and a
# line in capitals says so.
APT = apt-get install --yes --quiet
INSTALL = { $(APT) $(1) || { apt-get update --quiet && $(APT) $(1); } \
	|| sudo --non-interactive sh -c 'apt-get update --quiet; $(APT) $(1)'; } >/dev/null 2>&1

browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || $(call INSTALL,chromium) \
		|| echo "NO BROWSER: THE TESTS OF THE WEB APP ARE SKIPPED; install chromium" >&2

java:
	@command -v java >/dev/null || test -n "$$JAVA_HOME" || $(call INSTALL,default-jre-headless) \
		|| echo "NO JAVA: THE TESTS OF SPARK ARE SKIPPED; install Java 17 or later" >&2

# The pictures of docs/web.md, taken while the app is tested.
pictures: install browser
	SHOAL_PICTURES=1 $(BIN)/python -m pytest tests/web/browser/test_flow.py

# A quick answer while editing: style, layers, and a test of each kind of work, listed in one file.
check: $(VENV)/.warm
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n 2 --dist worksteal @tests/check.txt

test: $(VENV)/.warm browser java
	$(BIN)/python -m pytest -n 2 --dist worksteal

deep: $(VENV)/.warm browser java
	SHOAL_DEEP=1 $(BIN)/python -m pytest -n 2 --dist worksteal
	$(MAKE) siege

# The lowest versions that pyproject.toml allows, without the networks' part (torch).
lowest:
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet uv
	.venv-lowest/bin/uv pip install --quiet --python .venv-lowest/bin/python \
		--resolution lowest-direct --editable '.[test]'
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/kernels .venv-lowest/bin/python -m pytest -n 2 \
		--dist worksteal --ignore-glob='*robust*'

# Random faults all over the source; with MODULE=privacy/t_closeness.py, every fault that mutmut
# makes in that file, against TESTS. mutmut 3.8 does not run on pytest 9, and not on kernels.
MUTANTS := .mutants
TESTS = tests/$(dir $(MODULE))
ifdef MODULE
mutate:
	$(PYTHON) -m venv .venv-mutate
	.venv-mutate/bin/python -m pip install --quiet --editable '.[test]' 'mutmut>=3.8,<4' 'pytest<9'
	rm -rf $(MUTANTS) && mkdir $(MUTANTS)
	cp -r src tests pyproject.toml $(MUTANTS)
	printf '%s\n' '[tool.mutmut]' 'source_paths = ["src"]' \
		'only_mutate = ["src/shoal/$(MODULE)"]' 'also_copy = ["tests", "pyproject.toml"]' \
		'pytest_add_cli_args = ["-p", "no:randomly"]' \
		'pytest_add_cli_args_test_selection = ["$(TESTS)"]' >> $(MUTANTS)/pyproject.toml
	cd $(MUTANTS) && ../.venv-mutate/bin/mutmut run --max-children 2
	cd $(MUTANTS) && ../.venv-mutate/bin/mutmut results
else
mutate: install
	$(BIN)/python benchmarks/run.py --section mutation
endif

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# All sections, or one: `make bench SECTION=suggestions ARGS=--full`.
bench: install
	$(BIN)/python benchmarks/run.py $(if $(SECTION),--section $(SECTION)) $(ARGS)

# Tables larger than memory: `make bench-scale ROWS=1e8 MEMORY=4GB METHOD=ola ARGS='--growth 10'`.
ROWS ?= 1e6
MEMORY ?= 2GB
bench-scale: install
	$(BIN)/python benchmarks/scale.py --rows $(ROWS) --memory $(MEMORY) $(if $(METHOD),--method $(METHOD)) $(if $(FOLDER),--folder $(FOLDER)) $(ARGS)

# How the code is cut: files, imports, and what one run crosses.
house: install
	$(BIN)/python benchmarks/house.py

# Random tables through the command line, each file judged independently.
TABLES ?= 20000
siege: $(VENV)/.warm
	$(BIN)/python -m tests.siege --tables $(TABLES) $(if $(SEED),--seed $(SEED))

# A published study: `make study` lists them, `make study NAME=risk` runs one, FULL=1 at its published size.
study: install
	$(BIN)/python -m studies $(NAME) $(if $(FULL),--full) $(if $(DATA),--data $(DATA)) $(if $(RELEASES),--releases $(RELEASES)) $(if $(OUT),--out $(OUT)) $(if $(PUBLISH),--publish)

docs: $(VENV)/.documented
	$(BIN)/mkdocs build --strict

$(VENV)/.documented: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

clean:
	rm -rf $(VENV) .venv-bench .venv-bench-attacks .venv-lowest .venv-mutate .mutants build dist site demo .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
