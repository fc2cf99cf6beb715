# The fixed commands. Each is a thin wrapper over a CMake preset; see CMakePresets.json.
PRESET ?= release
DIR_release = build
DIR_dev = build/dev
DIR = $(or $(DIR_$(PRESET)),build/$(PRESET))
PREFIX ?= /usr/local

.PHONY: all packages configure demo check check-unit tests soak bench mutants install uninstall deb format clean
all: configure
	@cmake --build $(DIR)

packages:
	@./scripts/install_packages.sh

configure: packages
	@test -f $(DIR)/build.ninja || cmake --preset $(PRESET) >/dev/null

demo: configure
	@cmake --build $(DIR) --target demo_programs
	@./scripts/demo.sh $(DIR)

# Everything, tests and benchmarks too.
tests: configure
	@cmake --build $(DIR) --target all unit_tests tests/all bench/all

check: tests
	@./scripts/check.sh $(DIR)

# The unit tests of what has changed: seconds.
check-unit: configure
	@cmake --build $(DIR) --target unit_tests
	@./scripts/check_unit.py $(DIR)

soak: tests
	@./scripts/soak.sh $(DIR) $(PARTS)

# Can the tests see a fault? MUTANTS="--count 20 --seed 3 src/session" chooses.
mutants: tests
	@./scripts/mutants.py --build $(DIR) $(MUTANTS)

bench: tests
	@./scripts/bench.sh $(DIR)

install: all
	@cmake --install $(DIR) --prefix "$(PREFIX)"

deb: all
	@./scripts/make_deb.sh $(DIR)

uninstall:
	@cmake "-DPREFIX=$(PREFIX)" -P cmake/uninstall.cmake

format:
	@git ls-files '*.c' '*.h' '*.hpp' | xargs clang-format -i

clean:
	@rm -rf build
