# clew: `make` lists what there is to do. Every target does its own set-up, and only what is missing of it.
PYTHON ?= python3
ARGS ?=
GPU = $(CLEW_GPU)
MODEL ?= $(CLEW_FIRST)
BIN := .venv/bin
PYTEST := $(BIN)/pytest -n logical --maxprocesses=4 --dist=loadgroup

# Where this is set, every process compiles all of its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help chat demo test soak check lint bench pictures format setup rebuild-llama clean

help: ## show this help
	@echo "clew, a terminal chat that remembers, offline"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

chat: setup ## open the chat (ARGS="--new" is passed on; MODEL=small begins with a tiny model, a toy)
	@$(BIN)/clew $(ARGS)

demo: setup ## chat in the memory of an invented person, kept in build/demo and separate from yours
	@test -e build/demo/memory || $(BIN)/python -m demo.memory build/demo
	@CLEW_MODELS="$${CLEW_MODELS:-$$($(BIN)/python -c 'from agent.home import Home; print(Home.resolve().models)')}" \
		$(BIN)/clew --home build/demo $(ARGS)

test: setup lint ## lint, check types and run all kinds of tests (ARGS="tests/graph" runs only those)
	$(PYTEST) --durations=30 $(ARGS)

soak: setup ## what takes hours: full lengths, mutation, other Pythons and machines (ARGS="--list" tells the parts)
	@$(BIN)/python scripts/soak.py $(ARGS)

check: setup lint ## lint, check types and run the quick tests, for while you work
	$(PYTEST) --hypothesis-profile=dev -m "not (process or model or stateful or restarts) and (sample or not (ui or opens))" $(ARGS)

lint:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: setup ## the quick benchmarks, in four minutes (ARGS="--against HEAD~5" compares with that commit)
	@$(BIN)/python -m bench.quick $(ARGS)

pictures: setup ## retake the pictures of the README, from the demo memory
	$(BIN)/python -m demo.pictures $(ARGS)

format: setup ## format the code
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# The tests name their model; the chat begins with a better one, or with MODEL=small with that too.
test soak check bench: ALSO = --also smollm2-135m
test soak: ALSO += $(if $(MODEL),,--also qwen2.5-coder-0.5b)

setup: ## set up what is missing: environment, dependencies, models
	@CLEW_GPU="$(GPU)" CLEW_FIRST="$(MODEL)" $(PYTHON) scripts/bootstrap.py $(ALSO)

rebuild-llama: ## rebuild llama.cpp and test it (GPU=cuda, rocm, vulkan or metal: for that GPU; GPU=none: without)
	@CLEW_GPU="$(GPU)" $(PYTHON) scripts/bootstrap.py --rebuild

clean: ## remove the environment and tool caches; chats, models and the built wheel are kept
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
