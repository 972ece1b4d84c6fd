PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: run test setup check docs bench clean

run: setup  ## assess the embedded example and write its report
	@mkdir -p out
	@$(BIN)/discreet assess example:tract --release "Race*Income + Income*Gender" \
	  --html out/tract.html || [ $$? -eq 1 ]

test: setup check  ## every check and every test
	$(BIN)/python -m pytest -n auto

setup: $(READY)  ## virtual environment with everything pinned

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e ".[test]"
	@touch $@

check: setup  ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup  ## the documentation as a site in site/
	$(BIN)/mkdocs build --strict

bench: setup  ## rivals side by side, and slow proofs
	$(BIN)/python -m pytest benchmarks -n 0 -s

clean:
	rm -rf .venv out site build dist
