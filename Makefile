# `make demo` and `make test` each do all they need on a fresh clone; a second time they start at once.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test test-all fix clean
.DELETE_ON_ERROR:

demo: .venv/demo
	$(BIN)/rota compare flights --sample-users 700 --prior "wrapped_gaussian(24h, 0.5h)" \
		--control rope --seeds 2 --time-access request

test: .venv/dev
	scripts/check

test-all: .venv/dev
	scripts/check all

fix: .venv/dev
	$(BIN)/python scripts/stubs.py
	$(BIN)/ruff check --fix src tests scripts benchmarks
	$(BIN)/ruff format src tests scripts benchmarks

.venv/demo .venv/dev: .venv/%: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[$*]"
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
