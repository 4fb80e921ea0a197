# clew: `make` lists what there is to do. Every target does its own set-up, and only what is missing of it.
PYTHON ?= python3
ARGS ?=
GPU = $(CLEW_GPU)
BIN := .venv/bin
PYTEST := $(BIN)/pytest -n logical --maxprocesses=4 --dist=loadgroup

# Where this is set, every process compiles all of its modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help chat demo test check lint bench pictures format setup rebuild-llama clean

help: ## show this
	@echo "clew, a terminal chat that remembers, offline"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

chat: setup ## set up what is missing, then chat (ARGS="--new" is passed on)
	@$(BIN)/clew $(ARGS)

demo: setup ## chat in an invented person's memory, which is made in build/demo and never mixed with yours
	@test -e build/demo/memory || $(BIN)/python -m demo.memory build/demo
	@CLEW_MODELS="$${CLEW_MODELS:-$$($(BIN)/python -c 'from agent.home import Home; print(Home.resolve().models)')}" \
		$(BIN)/clew --home build/demo $(ARGS)

test: setup lint ## set up what is missing, then lint, check types and run the tests (ARGS="tests/graph" narrows them)
	$(PYTEST) --durations=30 $(ARGS)

check: setup lint ## the same with the tests that take seconds, for while you work (of the screens a few each)
	$(PYTEST) --hypothesis-profile=dev -m "not (process or model or stateful or restarts) and (not ui or sample)" $(ARGS)

lint:
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: setup ## the quick benchmarks, in four minutes (ARGS="--against HEAD~5" tells what got worse since)
	@$(BIN)/python -m bench.quick $(ARGS)

pictures: setup ## take the pictures of the README anew, of that memory
	$(BIN)/python -m demo.pictures $(ARGS)

format: setup ## put the code into its one format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

setup: ## set up what is missing: environment, dependencies, default models
	@CLEW_GPU="$(GPU)" $(PYTHON) scripts/bootstrap.py

rebuild-llama: ## build llama.cpp anew and prove it (GPU=cuda, rocm, vulkan or metal: for that GPU; GPU=none: without)
	@CLEW_GPU="$(GPU)" $(PYTHON) scripts/bootstrap.py --rebuild

clean: ## remove the environment and the caches of the tools; chats, models and the built wheel stay
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
