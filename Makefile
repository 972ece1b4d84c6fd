PYTHON ?= python3
BIN := .venv/bin
# bytecode is written once, whatever the machine says: tests start a thousand programs
export PYTHONDONTWRITEBYTECODE :=
PIP := $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt
# uv is four times as fast; where it finds no registry, pip does
install = $(PYTHON) -m venv .venv && { $(PIP) uv && \
	$(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt -e "$(1)" || \
	$(PIP) --no-compile -e "$(1)"; }

.PHONY: run test serve setup check style types suite docs bench page clean

run: .venv/ready  ## assess the embedded example and write its report
	@mkdir -p out
	@$(BIN)/discreet assess example:tract --release "Race*Income + Income*Gender" \
	  --html out/tract.html || [ $$? -eq 1 ]

test: setup style  ## every check and every test; types are checked beside the tests
	@$(MAKE) --no-print-directory -j2 types suite

serve: .venv/server  ## the table server on the embedded example, until Ctrl-C
	@mkdir -p out
	@$(BIN)/discreet serve example:czech --title "Czech auto workers" --http \
	  --database sqlite:///out/server.db --set server.rule=myopic

setup: .venv/tools  ## virtual environment with everything pinned

.venv/ready: pyproject.toml constraints.txt  # what commands need, and no tools
	@$(call install,.)
	@touch $@

.venv/server: pyproject.toml constraints.txt
	@$(call install,.[server])
	@touch .venv/ready $@

.venv/tools: pyproject.toml constraints.txt
	@$(call install,.[test])
	@touch .venv/ready .venv/server $@

.venv/bench: pyproject.toml constraints.txt  # and the rivals
	@$(call install,.[bench])
	@touch .venv/ready .venv/server .venv/tools $@

check: style types  ## style, layers, types

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

# one more than there are cores: tests of the server, of browsers and of workers mostly wait;
# loops are compiled before, or each worker would compile its own
suite: setup
	@$(BIN)/discreet setup
	$(BIN)/python -m pytest -n $$($(BIN)/python -c "import os; print(os.cpu_count() + 1)") --dist worksteal

docs: setup  ## the documentation as a site in site/
	$(BIN)/mkdocs build --strict

bench: .venv/bench  ## rivals side by side, slow proofs, and the page
	$(BIN)/python -m pytest benchmarks -n 0 -s
	$(BIN)/python -m pytest tests -m slow -n auto

page: .venv/bench  ## docs/benchmarks.md, on a quiet machine; LARGE=1 for the largest data too
	$(BIN)/python -m pytest benchmarks -n 0 -m "claimed$(if $(LARGE),, and not large)"

clean:
	rm -rf .venv out site build dist
