# The only door: `make demo`, `make test`. Each target first sets up what it needs.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
EMULATOR_VENV := .venv-emulator
FILES ?= examples/inbox
# Node comes from the environment, so that nothing depends on the machine's own.
export PATH := $(CURDIR)/$(VENV)/bin:$(CURDIR)/node_modules/.bin:$(PATH)
PIP_FLAGS := --quiet --disable-pip-version-check --require-hashes

.PHONY: help setup demo test lint unit end-to-end lock clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/ —/'

setup: $(VENV)/.ready $(EMULATOR_VENV)/.ready node_modules/.ready ## Create the environments and install what the locks name

$(VENV)/.ready: requirements/develop.txt pyproject.toml
	@echo "Setting up $(VENV) (Python packages and Node) …"
	@$(PYTHON) -c 'import sys; sys.exit("OneLane needs Python 3.11 or newer; set PYTHON=python3.12, for example.") if sys.version_info < (3, 11) else None'
	@test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install $(PIP_FLAGS) -r requirements/develop.txt
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(EMULATOR_VENV)/.ready: requirements/emulator.txt
	@echo "Setting up $(EMULATOR_VENV) (the embedded AWS) …"
	@test -x $(EMULATOR_VENV)/bin/python || $(PYTHON) -m venv $(EMULATOR_VENV)
	@$(EMULATOR_VENV)/bin/pip install $(PIP_FLAGS) -r requirements/emulator.txt
	@touch $@

node_modules/.ready: package-lock.json $(VENV)/.ready
	@echo "Setting up node_modules (the CDK command line) …"
	@npm ci --silent
	@touch $@
