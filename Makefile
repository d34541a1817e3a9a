# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.softmark-installed

.PHONY: setup demo test lint types layers quick check bench sweep latex containers browser clients docs figures clean

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[cluster,excel,exchange,paper,postgres,stats,web,test,dev]'
	touch $@

demo: setup            ## lint the bank, draw a quiz for the example class, grade it
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh .demo

# In the order of tests/conftest.py: what waits for sandboxes and servers runs beside what computes, and small files
# keep all workers busy to the end.
test: setup browser clients  ## the whole test suite
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports --no-cache

# The unit tests that take neither a sandbox nor, by themselves, over two seconds.
quick: setup           ## the tests of the edit-test loop
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow" --ignore tests/unit/sandbox \
	  tests/unit tests/repo/test_docs.py tests/repo/test_house.py tests/repo/test_make.py tests/repo/test_plurals.py

check: lint layers types quick  ## before each commit: under two minutes on two cores

bench: setup           ## side-by-side measurements; not part of the tests
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/diagnosis.py --confusion
	$(BIN)/python benchmarks/counterexamples.py
	$(BIN)/python benchmarks/code_grading.py

# A test of the sweep may take hours.
LONG := SOFTMARK_LONGEST_TEST_S=86400
sweep: setup latex containers  ## the long runs: many seeds, many examples
	$(LONG) SOFTMARK_HYPOTHESIS_PROFILE=sweep $(BIN)/python -m pytest -n auto tests/property
	$(BIN)/grade lint --seeds 10000
	$(LONG) SOFTMARK_LINT_SEEDS=500 $(BIN)/python -m pytest -n auto tests/integration/test_bank_lint.py
	$(BIN)/python benchmarks/right_code.py --seeds 10000
	$(LONG) SOFTMARK_CORPUS=all $(BIN)/python -m pytest -n 1 tests/sandbox/test_corpus.py
	$(LONG) SOFTMARK_MARKS=all $(BIN)/python -m pytest -n0 tests/web/test_code_marks.py
	$(LONG) SOFTMARK_MUTANTS_EVERY=1 $(BIN)/python -m pytest -n auto tests/unit/authoring/test_mutants_of_the_bank.py
	$(LONG) $(BIN)/python -m pytest -n0 tests/sweep/latex_of_the_bank.py
	$(LONG) $(BIN)/python -m pytest -n0 tests/sweep/worker_in_container.py
	$(LONG) SOFTMARK_CLUSTER_KILLS=100 SOFTMARK_CLUSTER_APART_S=60 \
	  $(BIN)/python -m pytest -n0 tests/durability/test_cluster_hosts.py

latex:                 ## a LaTeX engine for the sweep, if there is none
	@command -v pdflatex >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q \
	       && apt-get install -y -q --no-install-recommends texlive-latex-base; } \
	  || { echo "the sweep needs pdflatex, which only an administrator can install here" \
	       "(Debian and Ubuntu: apt-get install texlive-latex-base)" >&2; exit 1; }

CONTAINERS := podman buildah crun debootstrap
containers:            ## what builds and runs containers for the sweep, if it isn't there
	@{ command -v podman && command -v buildah && command -v crun && command -v debootstrap; } >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q \
	       && apt-get install -y -q --no-install-recommends $(CONTAINERS); } \
	  || { echo "the sweep needs $(CONTAINERS), which only an administrator can install here" \
	       "(Debian and Ubuntu: apt-get install $(CONTAINERS))" >&2; exit 1; }

# Where a service manager runs, installing a server would start it: there only whoever wants that installs it.
SLURM := slurmctld slurmd slurm-client munge
browser:               ## Chromium, nginx, PostgreSQL and others for the tests, if this user may install what is missing
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q \
	       && apt-get install -y -q --no-install-recommends chromium; } \
	  || echo "no Chromium here (Debian and Ubuntu: apt-get install chromium): tests of pages are skipped" >&2
	@command -v nginx >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && [ ! -d /run/systemd/system ] && command -v apt-get >/dev/null \
	       && { apt-get install -y -q --no-install-recommends nginx \
	            || { apt-get update -q && apt-get install -y -q --no-install-recommends nginx; }; }; } \
	  || echo "no nginx here (Debian and Ubuntu: apt-get install nginx): its tests are skipped" >&2
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 \
	  || { [ "$$(id -u)" = 0 ] && [ ! -d /run/systemd/system ] && command -v apt-get >/dev/null \
	       && { apt-get install -y -q --no-install-recommends postgresql \
	            || { apt-get update -q && apt-get install -y -q --no-install-recommends postgresql; }; }; } \
	  || echo "no PostgreSQL with TLS here (Debian and Ubuntu: apt-get install postgresql): its tests are skipped" >&2
	@PATH="$$PATH:/usr/sbin" command -v pgbouncer >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && [ ! -d /run/systemd/system ] && command -v apt-get >/dev/null \
	       && { apt-get install -y -q --no-install-recommends pgbouncer \
	            || { apt-get update -q && apt-get install -y -q --no-install-recommends pgbouncer; }; }; } \
	  || echo "no PgBouncer here (Debian and Ubuntu: apt-get install pgbouncer): its tests are skipped" >&2
	@command -v slurmctld >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && [ ! -d /run/systemd/system ] && command -v apt-get >/dev/null \
	       && { apt-get install -y -q --no-install-recommends $(SLURM) \
	            || { apt-get update -q && apt-get install -y -q --no-install-recommends $(SLURM); }; }; } \
	  || echo "no SLURM here (Debian and Ubuntu: apt-get install $(SLURM)): its test is skipped" >&2
	@test -x /lib/systemd/systemd \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	       && { apt-get install -y -q --no-install-recommends systemd \
	            || { apt-get update -q && apt-get install -y -q --no-install-recommends systemd; }; }; } \
	  || echo "no systemd here (Debian and Ubuntu: apt-get install systemd): its tests are skipped" >&2

# What we did not write and exports are tried in: players of quizzes from npm (without their scripts), Open edX's
# problem block, and nbgrader, each in an environment of its own.
CLIENTS := .clients
clients: $(CLIENTS)/.installed  ## what exported quizzes are tried in

$(CLIENTS)/.installed: tests/clients/package-lock.json tests/clients/openedx.txt tests/clients/nbgrader.txt
	@command -v npm >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -q \
	       && apt-get install -y -q --no-install-recommends nodejs npm; } \
	  || { echo "the players of exported quizzes need npm, which only an administrator can install here" \
	       "(Debian and Ubuntu: apt-get install nodejs npm)" >&2; exit 1; }
	mkdir -p $(CLIENTS)
	cp tests/clients/package.json tests/clients/package-lock.json $(CLIENTS)/
	npm ci --prefix $(CLIENTS) --ignore-scripts --no-audit --no-fund --loglevel=error
	test -x $(CLIENTS)/openedx/bin/python || $(PYTHON) -m venv $(CLIENTS)/openedx
	$(CLIENTS)/openedx/bin/python -m pip install --quiet --disable-pip-version-check -r tests/clients/openedx.txt
	test -x $(CLIENTS)/nbgrader/bin/python || $(PYTHON) -m venv $(CLIENTS)/nbgrader
	$(CLIENTS)/nbgrader/bin/python -m pip install --quiet --disable-pip-version-check -r tests/clients/nbgrader.txt
	touch $@

docs: setup            ## regenerate what is generated
	$(BIN)/grade schema > problems/schema.json
	$(BIN)/python -m docs.generators.problem_spec > docs/problem-spec.md
	$(BIN)/python -m tests.integration.by_hand.sheet

figures: setup         ## kill matrices, diagnosis and counterexample figures of the whole bank
	$(BIN)/python benchmarks/figures_page.py

clean:
	rm -rf $(VENV) $(CLIENTS) .demo .mypy_cache .ruff_cache .hypothesis
