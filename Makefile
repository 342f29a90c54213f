# The commands of everyday work. `make help` lists them; CONTRIBUTING.md has the CMake commands behind them.
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 600
GRAPHS ?= 10000
MINUTES ?= 10
COUNT ?= 1000
ATTACK ?= attack
PEERS_PYTHON ?= python3
QUIET := $(if $(VERBOSE),,--log-level=WARNING >/dev/null)
BUILD = cmake --build build/$(1) -j $(JOBS)

.DEFAULT_GOAL := help
.PHONY: help build demo test dev check-deep tsan property fuzz fuzz-coverage attack programs wheel wasm test32 bench kills large format clean opinfo openvino operators referee simplify-referee other-converters simplify-table real roads docs page page-wasm

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

build: ## the command, at build/release/cameo
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target cameo_command

demo: ## build, then show Cameo at work on the example in examples/digits
	@$(MAKE) --no-print-directory build
	@scripts/demo

test: ## everything: install what is missing, build, run all tests, count them
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release)
	@tests/run

referee: ## opset conversion and check over all node cases, judged by onnxruntime and onnx; goes on where it was stopped
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target cameo_command
	@scripts/referee

dev: ## the C++ tests under address and undefined-behaviour sanitizers
	@scripts/bootstrap core
	@cmake --preset dev $(QUIET)
	@$(call BUILD,dev)
	@tests/run --build build/dev --programs

check-deep: ## before a release: unit and text tests under sanitizers, then clang's warnings and .clang-tidy; goes on where it was stopped
	@scripts/bootstrap core dev
	@cmake --preset dev $(QUIET)
	@$(call BUILD,dev) --target unit_tests text_tests
	@tests/run --build build/dev unit text
	@scripts/clang-checks --jobs $(JOBS)

tsan: ## sessions run by several threads, under the thread sanitizer
	@scripts/bootstrap core
	@cmake --preset tsan $(QUIET)
	@$(call BUILD,tsan) --target unit_tests
	@build/tsan/tests/unit_tests --gtest_brief=1 --gtest_filter='Session.*:*FastPath*'

property: ## GRAPHS (10000) generated models simplified: outputs stay, a second time changes nothing
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target property_tests
	@CAMEO_GRAPHS=$(GRAPHS) build/release/tests/property_tests --gtest_filter='Simplify*' --gtest_brief=1

simplify-referee: ## 1,300 generated models simplified by the command and judged by onnxruntime
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target property_tests cameo_command
	@$$(scripts/python-env) tests/python/simplify_referee.py --count 1300

other-converters: ## models of tf2onnx, skl2onnx, onnxmltools and paddle2onnx simplified and judged by onnxruntime; installs them (large)
	@$(MAKE) --no-print-directory build
	@scripts/other-converters

# PEERS_PYTHON has torch, timm, transformers, onnx, onnxruntime and the other simplifiers.
simplify-table: ## docs/simplify-table.md: Cameo and the other simplifiers on some 70 models; goes on where it was stopped
	@$(PEERS_PYTHON) bench/simplify_models.py build/simplify
	@$(PEERS_PYTHON) bench/simplify_peers.py --results build/simplify/results.jsonl --out docs/simplify-table.md build/simplify

fuzz: ## every fuzz target for FUZZ_SECONDS (600), going on from the corpus of the last run
	@scripts/bootstrap core dev
	@cmake --preset fuzz $(QUIET)
	@$(call BUILD,fuzz) --target fuzzers
	@FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/fuzz

fuzz-coverage: ## which of the readers' lines the fuzz targets' committed corpus reaches: at least 80 %
	@scripts/bootstrap core dev
	@cmake --preset fuzz $(QUIET)
	@$(call BUILD,fuzz) --target fuzzers
	@scripts/fuzz --coverage

# ATTACK=attack-gcc builds with g++, where there is no clang 14.
attack: ## MINUTES (10) of changed files of every kind through whole verbs, under sanitizers; goes on where it was stopped
	@scripts/bootstrap core $(if $(filter attack,$(ATTACK)),dev)
	@cmake --preset $(ATTACK) $(QUIET)
	@$(call BUILD,$(ATTACK)) --target attack_target
	@$$(scripts/python-env) tests/attack/run --target build/$(ATTACK)/tests/attack_target --minutes $(MINUTES) --jobs $(JOBS)

programs: ## COUNT (1000) random PyTorch programs exported and judged by PyTorch, onnxruntime and our engine; goes on where it was stopped
	@$(MAKE) --no-print-directory build
	@$$(scripts/python-env) tests/programs/run --count $(COUNT) --jobs $(JOBS)

wheel: ## the Python package as a wheel, in dist/
	@$(MAKE) --no-print-directory build
	@scripts/bootstrap python
	@$(call BUILD,release) --target libcameo.a libcameo.so
	@scripts/wheel build/release python3 dist
	@ls dist/*.whl

page: ## the page of `cameo view`, built with npm, and the command with the page in it
	@scripts/bootstrap core page
	@cd web && npm ci --no-audit --no-fund --ignore-scripts && npm run --silent build
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target cameo_command

wasm: ## Cameo as one WebAssembly module, at build/wasm/wasm
	@scripts/bootstrap core wasm
	@cmake --preset wasm $(QUIET)
	@$(call BUILD,wasm)

page-wasm: ## the page that carries that module and needs no server, at build/page/cameo.html
	@$(MAKE) --no-print-directory wasm
	@$(MAKE) --no-print-directory page

test32: ## the unit tests as a 32-bit program
	@scripts/bootstrap core m32
	@cmake --preset m32 $(QUIET)
	@$(call BUILD,m32) --target unit_tests
	@tests/run --build build/m32 unit

bench: ## the benchmarks, one JSON file each in build/release/bench-results
	@scripts/bootstrap core
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target cameo_command bench
	@scripts/bench

KILLS ?= 1000
PAIRS ?= 500
CUTS ?= 200
kills: ## KILLS (1000) writers killed, PAIRS (500) of writers at once, CUTS (200) inputs cut short: always one whole version
	@$(MAKE) --no-print-directory build
	@tests/cli/storms.py build/release/cameo --kills $(KILLS) --pairs $(PAIRS) --cuts $(CUTS)

large: ## a model of 6 GiB through show, check, infer and edit, and an exported program of 100 MB of JSON, in little memory
	@$(MAKE) --no-print-directory build
	@tests/cli/run build/release/cameo large

opinfo: ## PyTorch's own operator samples, exported and run by onnxruntime, with a table of what is refused and why
	@$$(scripts/python-env) tests/torch/opinfo.py --errors

real: ## the models inside published packages: every verb, beside onnxruntime and PyTorch; resumes
	@$(MAKE) --no-print-directory build
	@$$(scripts/python-env) tests/real/run

linger-package: ## networks that the package of linger 1.x quantizes and exports itself, converted, number by number
	@$(MAKE) --no-print-directory build
	@$$(scripts/python-env) tests/torch/linger_package.py

roads: ## from a PyTorch module to the output of every engine that runs here (examples/roads); resumes
	@$(MAKE) --no-print-directory build
	@examples/roads/run

openvino: ## forty published models, run by OpenVINO too (needs openvino, torchvision, timm, transformers); resumes
	@$$(scripts/python-env) tests/torch/second_engine.py

operators: ## write down anew what each torch operator becomes: the table behind `cameo ops`, and docs/operators.md
	@cmake --preset release $(QUIET)
	@$(call BUILD,release) --target cameo_command probe_operators
	@tools/operators.py
	@$(call BUILD,release) --target cameo_command
	@tools/operators.py --docs

docs: ## the documentation as a site, English and Chinese, in build/docs
	@scripts/docs

format: ## clang-format over all C++ sources
	@scripts/bootstrap dev
	@git ls-files '*.h' '*.cpp' '*.c' | grep -v /generated/ | xargs -r clang-format-14 -i

clean: ## remove everything that was built (the virtual environment stays)
	rm -rf build
