PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: run test serve setup check style types suite docs bench clean

run: setup  ## assess the embedded example and write its report
	@mkdir -p out
	@$(BIN)/discreet assess example:tract --release "Race*Income + Income*Gender" \
	  --html out/tract.html || [ $$? -eq 1 ]

test: setup style  ## every check and every test; types are checked beside the tests
	@$(MAKE) --no-print-directory -j2 types suite

serve: setup  ## the table server on the embedded example, until Ctrl-C
	@mkdir -p out
	@$(BIN)/discreet serve example:czech --title "Czech auto workers" --http \
	  --database sqlite:///out/server.db --set server.rule=myopic

setup: $(READY)  ## virtual environment with everything pinned

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile -c constraints.txt -e ".[test]"
	@touch $@

check: style types  ## style, layers, types

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

suite: setup
	$(BIN)/python -m pytest -n auto --dist worksteal

docs: setup  ## the documentation as a site in site/
	$(BIN)/mkdocs build --strict

bench: setup  ## rivals side by side, and slow proofs
	$(BIN)/python -m pytest benchmarks -n 0 -s

clean:
	rm -rf .venv out site build dist
