# The fixed commands. Each is a thin wrapper over a CMake preset; see CMakePresets.json.
PRESET ?= release
DIR_release = build
DIR_dev = build/dev
DIR = $(or $(DIR_$(PRESET)),build/$(PRESET))
PREFIX ?= /usr/local

.PHONY: all packages configure demo check soak bench install uninstall deb format clean
all: packages configure
	@cmake --build $(DIR)

packages:
	@./scripts/install_packages.sh

configure: packages
	@test -f $(DIR)/build.ninja || cmake --preset $(PRESET) >/dev/null

demo: all
	@./scripts/demo.sh $(DIR)

check: all
	@./scripts/check.sh $(DIR)

soak: all
	@./scripts/soak.sh $(DIR)

bench: all
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
