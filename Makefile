# One entry per thing a person does here. `make` alone explains them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build python node c ruby java kotlin go demo test conformance ranges bench bench-adapters bench-languages packages lint gen fmt soak clean

# rustup's own place: there even when this shell has not been told.
export PATH := $(HOME)/.cargo/bin:$(PATH)
TARGET := $(or $(CARGO_TARGET_DIR),target)

help: ## This text
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

setup: ## Install what a bare Debian or Ubuntu machine lacks (quick when nothing is missing)
	@scripts/setup.sh

build: setup ## Build the `ojs` binary (release)
	@cargo build --release --locked -p ojs-cli
	@echo "built $(TARGET)/release/ojs"

python: setup ## Build the Python package into .venv
	@scripts/python.sh

node: ## Build the Node.js package in node/
	@scripts/setup.sh node
	@scripts/node.sh

c: setup ## Build the C library into target/c (scripts/c.sh install DIR installs it)
	@scripts/c.sh

ruby: setup ## Build the native half of the Ruby gem (scripts/ruby.sh gem DIR makes the gem file)
	@scripts/setup.sh ruby
	@scripts/ruby.sh

java: setup ## Build the Java package into java/target
	@scripts/setup.sh java
	@scripts/java.sh

kotlin: setup ## Build the Kotlin package into kotlin/target
	@scripts/setup.sh java
	@scripts/kotlin.sh

go: setup ## Build the C library into the Go package in go/ (scripts/go.sh pack DIR makes the module)
	@scripts/setup.sh go
	@scripts/go.sh

packages: setup ## Build what users install (wheel, npm, gems, jars, Go, C, deb, ojs) and install each into an empty place: make packages OUT=DIR (PROFILE=dev is quick; TWICE=1 compiles again elsewhere and compares the bytes)
	@scripts/setup.sh node ruby java go cmake pkg-config
	@python3 scripts/packages build $(if $(PROFILE),--profile $(PROFILE)) $(if $(TWICE),--twice) --out "$(or $(OUT),$(TARGET)/packages/out)"
	@python3 tests/packages --released --packages "$(or $(OUT),$(TARGET)/packages/out)"

demo: setup ## See it work: real jobs, retries, a dead letter and its replay; then jobs that cross languages
	@scripts/demo.sh

test: setup ## Everything: lints, all suites, conformance, documentation
	@scripts/setup.sh postgresql mariadb pgbouncer faketime prometheus c node ruby rails java go cmake pkg-config chromium
	@python3 scripts/check.py $(CHECK)

conformance: ## The public conformance cases on three stores: make conformance CASES=DIR (alone it says how to get them)
	@[ -n "$(CASES)" ] || { echo "The cases are another project's. Get them, then name their folder:"; \
		echo "    git clone https://github.com/openjobspec/ojs-conformance"; \
		echo "    make conformance CASES=ojs-conformance/suites"; exit 2; }
	@scripts/setup.sh postgresql
	@$(MAKE) --no-print-directory build
	@cargo build --release --locked -p ojs-postgres-fixture
	@for store in memory sqlite postgres; do python3 tests/conformance/play.py --ojs $(TARGET)/release/ojs --store $$store --cases "$(CASES)"; done
	@python3 tests/conformance/play.py --ojs $(TARGET)/release/ojs --store sqlite --slow --cases "$(CASES)"

lint: setup ## Formatting, clippy, mypy, tsc, layers, sizes, circles: the checks without the tests
	@scripts/setup.sh node ruby
	@python3 scripts/check.py --only lint

gen: ## Write what is generated from the declarations in xtask: operations, records, options, enumerations, error classes, frames
	@cargo run --quiet --locked -p xtask -- gen
	@python3 scripts/edge.py

fmt: ## Format all Rust
	@cargo fmt --all

ranges: python node java ## The adapters with the oldest versions of their frameworks that they declare, Prisma too (tests/ranges; OPTIONS="--only nestjs-10")
	@scripts/setup.sh postgresql mariadb
	@cargo build --locked --release -p ojs-postgres-fixture -p ojs-mariadb-fixture
	@$(TARGET)/release/postgres-fixture -- $(TARGET)/release/mariadb-fixture python3 tests/ranges $(OPTIONS)

bench: python build ## Measure against ceilings and rivals, all in one run, and what a job costs a transaction (about half an hour)
	@scripts/setup.sh redis-server postgresql
	@cargo run --release --locked -p ojs-bench -- all
	@$(MAKE) --no-print-directory bench-adapters

bench-adapters: python ## What a job costs the application's transaction, per adapter (scripts/bench_adapters.py; OPTIONS="--only django,pgx")
	@scripts/setup.sh postgresql node ruby rails java go
	@cargo build --locked --release --workspace
	@OJS_BUILT=1 $(MAKE) --no-print-directory node ruby java go
	@CARGO_TARGET_DIR=$(TARGET) python3 scripts/bench_adapters.py $(OPTIONS)

bench-languages: python ## Every language beside a rival of its own, and the cost of the boundary (benches/languages.py; OPTIONS="--jobs 20000 --runs 1" is quick)
	@scripts/setup.sh redis-server postgresql node ruby sidekiq java go
	@cargo build --locked --release --workspace
	@OJS_BUILT=1 $(MAKE) --no-print-directory node ruby java kotlin go
	@CARGO_TARGET_DIR=$(TARGET) python3 benches/languages.py $(OPTIONS)

soak: build ## The long forms: kill -9 and the model for 200 rounds, a million jobs per language, claims beside two million (hours)
	@scripts/setup.sh postgresql node ruby java go
	@OJS_SOAK_JOBS=$${OJS_SOAK_JOBS:-1000000} scripts/soak.sh
	@OJS_FAULT_TRAINS=$${OJS_FAULT_TRAINS:-200} OJS_FAULT_CARS=$${OJS_FAULT_CARS:-100} OJS_FAULT_TRAIN_ROUNDS=$${OJS_FAULT_TRAIN_ROUNDS:-3} \
		OJS_FAULT_ROUNDS=$${OJS_FAULT_ROUNDS:-200} OJS_FAULT_NODE_ROUNDS=$${OJS_FAULT_NODE_ROUNDS:-5} OJS_FAULT_NODE_JOBS=$${OJS_FAULT_NODE_JOBS:-100000} \
		OJS_FAULT_NODE_SECONDS=$${OJS_FAULT_NODE_SECONDS:-120} \
		cargo test --release --locked -p ojs-tests --test kill9 -- --nocapture
	@OJS_MODEL_ROUNDS=$${OJS_MODEL_ROUNDS:-200} cargo test --release --locked -p ojs-engine --test store model::
	@OJS_PAIRS=78 OJS_SETS=$${OJS_SETS:-32} OJS_PAIR_ROUNDS=$${OJS_PAIR_ROUNDS:-50} cargo test --release --locked -p ojs-engine --test store pairwise::
	@cargo run --release --locked -p ojs-bench -- depth --deep 1000000

clean: ## Remove everything that was built
	@cargo clean
	@rm -rf .venv .mypy_cache .pytest_cache node_modules node/node_modules tests/dashboard/node_modules node/*.node ruby/lib/ojs/[0-9]* java/target kotlin/target swift/.build swift/Sources/OpenJobSpecCore swift/Sources/OpenJobSpecFFI go/lib go/include
