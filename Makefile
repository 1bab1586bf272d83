# Every target sets itself up: a .venv with the pinned versions, and nothing else is needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
ALL := $(VENV)/.all
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test lint format bench compare docs clean

demo: $(CORE)
	$(BIN)/colabel demo --out runs/demo --force

test: $(ALL)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

lint: $(ALL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(ALL)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(ALL)
	$(BIN)/python -m bench.propagation
	$(BIN)/python -m bench.fashion_mnist
	$(BIN)/python -m bench.ham10000
	$(BIN)/python -m bench.writers
	$(BIN)/python -m bench.sketch
	$(BIN)/python -m bench.lwe_security
	$(BIN)/python -m bench.protofssl_costs
	$(BIN)/python -m bench.threads
	$(BIN)/python -m bench.rounds_of_training --hamming clear
	$(BIN)/python -m bench.rounds_of_training --hamming clear --batch 10
	$(BIN)/python -m bench.rounds_of_training --hamming lattice
	$(BIN)/python -m bench.memory_of_training
	$(BIN)/python -m bench.lattice
	$(BIN)/python -m bench.ot
	$(BIN)/python -m bench.sums
	$(BIN)/python -m bench.rounds

# other libraries at the same work, each in an environment of its own under .venv
compare: $(ALL)
	$(BIN)/python -m bench.compare_ways --venvs $(VENV)/others
	$(BIN)/python -m bench.throughput --venvs $(VENV)/others

docs: $(ALL)
	$(BIN)/sphinx-build -W -q -b doctest docs docs/_build/doctest
	$(BIN)/sphinx-build -W -q -b html docs docs/_build/html

clean:
	rm -rf $(VENV) build dist docs/_build runs

$(CORE): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -c constraints.txt -e .
	touch $@

# torch first and alone: asked for together with the rest, pip may choose its CUDA build
$(ALL): $(CORE)
	$(BIN)/pip install --quiet -c constraints.txt torch==2.13.0
	$(BIN)/pip install --quiet -c constraints.txt -e ".[torch,vision,text,language,images,dp,cotrain,test,lint,docs]"
	$(BIN)/pip check
	touch $@
