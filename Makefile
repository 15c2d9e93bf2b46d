# All tasks of the project.  `make demo` and `make test` set up what they need by themselves.

CARGO ?= cargo
PYTHON ?= python3
TRIVIUM = target/release/trivium
OUT = demo-out
# With MPI where it is there, in all that is built: one set of features, so that nothing is built twice.
MPI = $$(tools/mpi look >/dev/null && echo "--features trivium/mpi")
# Each program of tests runs by tools/timed, which notes how long its tests take.
TIMES = $(CURDIR)/target/test-times
RUNNER = CARGO_TARGET_$(shell rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')_RUNNER
TIMED = mkdir -p target && : >$(TIMES) && $(RUNNER)=$(CURDIR)/tools/timed TEST_TIMES=$(TIMES)
SLOWEST = echo && echo "The 20 slowest tests, in seconds:" && sort -rn $(TIMES) | head -20

.PHONY: help setup build mpi mpi-ready mpi-wanted demo test test-fast test-loom test-mpi test-slow lint demo-short bench bench-run fuzz stress c-star-random c-star-mutants clean

help:
	@echo "make demo       build, simulate EM3D on four machines, print a table, draw a picture"
	@echo "make test       format, lints, all fast tests, a short demo"
	@echo "make test-slow  tests that take long"
	@echo "make mpi        build with MPI: mpirun -n 4 trivium run .. (installs MPI where it may)"
	@echo "make bench      benchmarks; bench-run: only those of trivium run"
	@echo "make fuzz       changes what users write at random, for MINUTES=10, and looks for panics and hangs"
	@echo "make stress     runs programs for real, with delays at random, for MINUTES=10, and looks at their answers"
	@echo "make c-star-random  CASES=100 random programs in C*, which must print what was worked out without the compiler"
	@echo "make setup      only what the others do first: the C compiler for programs"

# The C-to-WebAssembly compiler (PyPI package ziglang, pinned with its hash) in .venv.
setup: .venv/.ready

.venv/.ready: requirements.txt
	@tools/setup "$(PYTHON)" "$(CARGO)"
	@touch $@

# An MPI that cannot be built with keeps nobody from all the rest.
build: setup
	$(CARGO) build --release --locked -p trivium $(MPI) || \
		{ tools/mpi look >/dev/null && echo "Without MPI:" && $(CARGO) build --release --locked -p trivium; }

# With MPI: the same program, which may also be started by mpirun.  Installs what is missing where it may.
mpi: setup mpi-ready
	$(CARGO) build --release --locked -p trivium --features trivium/mpi

mpi-ready:
	@tools/mpi

demo: build
	@mkdir -p $(OUT)
	@echo
	@echo "EM3D with 192,000 graph nodes, degree 5, 5 % remote, on 32 nodes of four machines (some ten seconds)"
	@echo
	@$(TRIVIUM) compare programs/em3d.c --protocols stache \
		--machines simple-coma,typhoon,typhoon-1,typhoon-0 --nodes 32 \
		--svg $(OUT)/em3d.svg -- -t 192000 -i 3
	@echo
	@echo "The picture is $(OUT)/em3d.svg"

# With the program that the tests have just built.
demo-short:
	@mkdir -p $(OUT)
	@$(TRIVIUM) compare programs/em3d.c --protocols stache \
		--machines simple-coma,typhoon,typhoon-1,typhoon-0 --nodes 32 \
		--svg $(OUT)/em3d-short.svg -- -t 19200 -i 3

test: lint test-fast test-loom
	@$(MAKE) --no-print-directory demo-short

lint: setup mpi-wanted
	$(CARGO) fmt --all --check
	$(CARGO) clippy --release --locked --workspace --all-targets $(MPI) -- -D warnings

# Those with 2 to 4 ranks of MPI among them.
test-fast: setup mpi-wanted
	$(TIMED) $(CARGO) test --release --locked --workspace $(MPI)
	@$(SLOWEST)

# Where there is no MPI its tests are skipped, unless CI says that they must not be.
mpi-wanted:
	@if tools/mpi; then :; \
	elif [ -n "$$CI" ]; then echo "MPI is missing, and CI may not skip its tests"; exit 1; \
	else echo "SKIPPED: tests over MPI (see above for what is missing)"; fi

# The queue between two threads, and the words that threads tell all others, in every order of what they do and see; by themselves, since what it needs would have other crates compiled again.
test-loom:
	$(CARGO) test --release --locked --manifest-path crates/run/loom/Cargo.toml --target-dir target/loom

test-mpi: setup mpi-wanted
	@if tools/mpi look >/dev/null; then $(CARGO) test --release --locked --workspace $(MPI) --test group --test mpi; fi

# All tests, those that take minutes included; and what a `trivium` without MPI says where there is a launcher.
test-slow: setup mpi-wanted
	$(TIMED) TRIVIUM_SLOW=1 $(CARGO) test --release --locked --workspace $(MPI) -- --include-ignored
	@$(SLOWEST)
	$(CARGO) test --release --locked -p trivium --test launched
	$(CARGO) build --release --locked -p trivium $(MPI)

bench: build
	$(CARGO) bench --profile release --locked -p trivium-check --bench search --bench peers
	$(CARGO) bench --profile release --locked -p trivium-engine --bench handler
	$(CARGO) bench --profile release --locked -p trivium-sim --bench speed
	$(MAKE) --no-print-directory bench-run

# `trivium run` beside programs without it (programs/peers), in turns; over MPI where there is one.
bench-run: setup
	$(CARGO) bench --profile release --locked -p trivium --bench live $$(tools/mpi >/dev/null && echo "--features trivium/mpi")

# Every case is a function of SEED and its number: `make fuzz SEED=3 CASE=1234` runs one again, ONLY=protocol one kind.
MINUTES ?= 10
SEED ?= 1
fuzz: build
	$(CARGO) build --release --locked -p trivium-fuzz
	nice -n 5 target/release/trivium-fuzz --minutes $(MINUTES) --seed $(SEED) \
		$(if $(CASE),--case $(CASE)) $(if $(ONLY),--only $(ONLY))

# A case is a function of SEED and its number, but for the order of real threads: `make stress SEED=3 CASE=17` tries it again. What
# is found has a recording, which `trivium run --replay` repeats exactly.
stress: build
	$(CARGO) build --release --locked -p trivium-fuzz
	nice -n 5 target/release/trivium-fuzz stress --minutes $(MINUTES) --seed $(SEED) $(if $(CASE),--case $(CASE))

# A program is a function of SEED and its number: `make c-star-random SEED=3 CASE=17` tries it again, on so many NODES (1,3) and HOW: under so many
# protocols (stache,msi), for real (run), or interpreted (interpret).
CASES ?= 100
c-star-random: build
	$(CARGO) build --release --locked -p trivium-fuzz
	nice -n 5 target/release/trivium-fuzz c-star --cases $(CASES) --seed $(SEED) $(if $(CASE),--case $(CASE)) \
		$(if $(NODES),--nodes $(NODES)) $(if $(HOW),--protocols $(HOW))

# Mistakes in the compiler of C*, one at a time, built in a folder of their own, the first time as a whole: whether CASES random programs show each. Those in
# its library are put into the program that is there. CASE=4 is one of them.
c-star-mutants: build
	$(CARGO) build --release --locked -p trivium-fuzz
	nice -n 5 target/release/trivium-fuzz c-star-mutants --cases $(CASES) --seed $(SEED) $(if $(CASE),--case $(CASE))

clean:
	rm -rf $(OUT) fuzz-out stress-out c-star-out
