# Phaseline. `make` alone lists what can be made; every target does its own set-up first.

LLVM_BIN := /usr/lib/llvm-22/bin
PYTHON := .venv/bin/python
DATA := build/test-data
MDBOOK_VERSION := 0.5.4
MDBOOK := build/mdbook/bin/mdbook
C_FILES = $(shell git ls-files 'dialects/*.h' 'dialects/*.cpp' 'crates/*.h' 'crates/*.cpp' 'examples/*.c' 'runtime-c/*.h' 'runtime-c/*.c' \
	'targets/*.h' 'targets/*.c' 'tests/*.h' 'tests/*.c' ':!tests/compat')

# Tests compile the same C of a target many times. What is compiled is kept between them where ccache is installed.
export PATH := /usr/lib/ccache:$(PATH)
export CCACHE_DIR := $(CURDIR)/build/ccache
# Headers are as new as the sources, which are written for each compile. Nobody reads messages in another language.
export CCACHE_SLOPPINESS := include_file_mtime,include_file_ctime,locale

# Modules that a macro declares, which cargo does not see when it formats.
BY_MACRO := $(wildcard src/codegen/generators/*.rs)

.PHONY: help setup build demo test quick lines check-format lint unit conformance fuzz fuzz-views fuzz-sizes suite-sizes real-models lit runtime-c embed new-compiler check-docs data \
	format docs book bench bench-peers clean mutants mutate planted python python-sample python-stage wheel deb doc publish licences reproducible

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

setup: ## Install missing Debian packages and the Python environment
	@setup/install.sh

build: setup ## Build the library and the three programs
	cargo build

demo: build data ## Compile MobileNetV2 for the vanilla accelerator and the host, run it, check it
	examples/demo.sh

test: check-format lint unit lit runtime-c embed new-compiler python-sample check-docs mutants lines ## Run every check
	@echo "make test: all passed"

quick: check-format ## Check the format and lints of the product, run the unit tests of what does not know MLIR, and FileCheck of dialects and passes
	cargo clippy --workspace -- -D warnings
	cargo test -p phaseline-base -p phaseline-select -p phaseline-runtime
	cargo build
	$(LLVM_BIN)/lit -sv tests/lit/dialect tests/lit/passes tests/lit/codegen

lines: ## Print the lines of each crate and module, of the product and of tests
	@python3 tests/lines.py

check-format: setup ## Check the format of Rust, C and C++
	cargo fmt --all --check
	rustfmt --check --edition 2024 $(BY_MACRO)
	$(LLVM_BIN)/clang-format --dry-run --Werror $(C_FILES)

lint: setup ## Run clippy
	cargo clippy --workspace --all-targets -- -D warnings

unit: data ## Run the Rust tests: unit, numeric against onnxruntime, whole models
	cargo test --workspace --no-fail-fast

conformance: build data ## Run all one-operator models and ONNX's suite; `unit` has a sample
	PHASELINE_CONFORMANCE=1 cargo test --test all onnx:: -- --nocapture

fuzz: build data ## Run damaged inputs for ten minutes (SECONDS=600 SEED=the clock); `unit` has a minute of it
	PHASELINE_FUZZ_SECONDS=$(or $(SECONDS),600) PHASELINE_FUZZ_SEED=$(or $(SEED),$(shell date +%s)) \
		cargo test --test fuzz -- --nocapture --test-threads=1

fuzz-views: build ## Run COUNT=1000 random networks that share views, from SEED=1, on five kinds of targets; goes on where it was stopped
	PHASELINE_VIEWS_COUNT=$(or $(COUNT),1000) PHASELINE_VIEWS_SEED=$(or $(SEED),1) \
		cargo test --test all views:: -- --nocapture

fuzz-sizes: build ## Run COUNT=500 random networks with sizes known at run time, from SEED=1, on four compositions
	mkdir -p build/fuzz-sizes && cd build/fuzz-sizes && $(CURDIR)/$(PYTHON) $(CURDIR)/tests/sizes/fuzz.py \
		$(CURDIR)/target/debug/phaseline $(or $(COUNT),500) $(or $(SEED),1) llvm c 'vanilla, llvm' 'npu, llvm'

suite-sizes: build data ## Run ONNX's suite with every dimension of data inputs a symbol, and print what is refused
	mkdir -p build/suite-sizes && cd build/suite-sizes && $(CURDIR)/$(PYTHON) $(CURDIR)/tests/sizes/suite.py \
		$(CURDIR)/target/debug/phaseline $(CURDIR)/$(DATA)/suite

real-models: build ## Compile the models of some Python packages for ranges of sizes, and run each at five (downloads 60 MB)
	$(PYTHON) tests/sizes/real_models.py $(CURDIR)/target/debug/phaseline build/real-models

lit: setup data ## Run the FileCheck tests
	cargo build --workspace
	$(LLVM_BIN)/lit -sv tests/lit

runtime-c: setup ## Test the C runtime and the device simulators, also under sanitizers
	runtime-c/test/run.sh gcc build/runtime-c-gcc
	runtime-c/test/run.sh $(LLVM_BIN)/clang build/runtime-c-clang

embed: setup ## Build and run the embedding example outside of the repository, as docs/guides/embedding.md says
	tests/embed/outside.sh target

new-compiler: setup ## Build and test a crate that `phaseline new-compiler` writes, outside of the repository
	cargo test -p phaseline-toolkit --test scaffold -- --ignored

# The folder `build/python/phaseline` is the package as a wheel has it.
python-stage: setup
	cargo build -p phaseline-python
	crates/phaseline-python/stage.sh target/debug build/python

python: python-stage ## Test the package for Python: networks beside onnxruntime, hooks and passes, types, the guide's examples
	PYTHONPATH=build/python $(PYTHON) -m pytest -q crates/phaseline-python/tests
	cd crates/phaseline-python && $(CURDIR)/$(PYTHON) -m mypy --config-file pyproject.toml python/phaseline
	$(PYTHON) crates/phaseline-python/tests/other_versions.py build/python

python-sample: python-stage ## Test a few things of it
	PYTHONPATH=build/python $(PYTHON) -m pytest -q crates/phaseline-python/tests -k 'onnxruntime or dlpack or hooks_in or passes'

# Two builds of one commit are to have the same bytes.
wheel: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
wheel: setup ## Build the wheels in dist/: the whole (PROFILE=release), and the one that loads packages only
	cd crates/phaseline-python && $(CURDIR)/.venv/bin/maturin build --profile $(or $(PROFILE),release) \
		--strip --compatibility linux --out $(CURDIR)/dist
	rm -rf build/loader
	cd crates/phaseline-python && $(CURDIR)/.venv/bin/maturin build --profile $(or $(PROFILE),release) --no-default-features \
		--strip --compatibility linux --out $(CURDIR)/build/loader
	$(PYTHON) crates/phaseline-python/loader.py build/loader/*.whl dist
	$(PYTHON) crates/phaseline-python/tests/wheels.py dist

deb: setup ## Build a Debian package in dist/ of the program, its man pages, completions, targets and headers (PROFILE=release)
	setup/deb.sh $(or $(PROFILE),release) dist

reproducible: setup ## Build WHAT=loader (or wheel, deb) of HEAD in two folders and compare the bytes (PROFILE=release)
	setup/reproducible.sh $(or $(WHAT),loader) $(or $(PROFILE),release)

licences: setup ## Write the licences of all that is linked into build/licences.txt
	@mkdir -p build
	$(PYTHON) setup/licences.py > build/licences.txt

doc: ## Make the documentation of the crates, in target/doc
	cargo doc --workspace --no-deps --exclude phaseline-python

publish: ## Check what would be published, as far as it goes without a registry
	setup/publish.sh

mutants: build ## Plant a few defects in targets; check-target finds them
	$(PYTHON) tests/python/mutate.py target/debug/phaseline --sample 12 --least 80 \
		--arguments '--samples 12'

planted: build ## Plant 60 defects in the C of some targets and of each template, and print what check-target finds (two hours)
	$(PYTHON) tests/python/planted.py target/debug/phaseline --samples 8 --least 90

mutate: build ## Plant all defects in targets, and print the rate that check-target finds (an hour)
	$(PYTHON) tests/python/mutate.py target/debug/phaseline --least 85

check-docs: build data ## Run the commands of README.md and docs, compare generated pages with the sources, find dead links
	python3 tests/docs/links.py
	docs/generate.sh --check
	$(PYTHON) tests/docs/package.py target/debug/phaseline
	$(PYTHON) tests/docs/run.py

data: setup ## Generate test models and onnxruntime's answers (kept in build/)
	$(PYTHON) tests/python/make_data.py $(DATA)

format: setup ## Format Rust, C and C++
	cargo fmt --all
	rustfmt --edition 2024 $(BY_MACRO)
	$(LLVM_BIN)/clang-format -i $(C_FILES)

docs: build ## Regenerate the generated pages of docs
	docs/generate.sh

# Another place of mdBook: make book MDBOOK=PROGRAM.
book: ## Build the book in build/book (installs mdBook in build/mdbook where it is missing), and find dead links in it
	@[ "$$($(MDBOOK) --version 2> /dev/null)" = "mdbook v$(MDBOOK_VERSION)" ] || \
		cargo install --root build/mdbook --locked mdbook@$(MDBOOK_VERSION)
	python3 tests/docs/links.py
	rm -rf build/book
	$(MDBOOK) build docs
	python3 tests/docs/links.py --html build/book

bench: setup ## Measure the host kernels (`phaseline bench` measures whole models)
	cargo bench --features internals

bench-peers: build ## Measure layers and networks beside onnxruntime, append to benches/results
	for set in classes networks further others wider integers wider-integers; do \
		$(PYTHON) benches/peers/run.py target/debug/phaseline --set $$set --results benches/results/$$set.csv || exit 1; done

clean: ## Remove what was built
	rm -rf build target
