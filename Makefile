# `make quick` after each change, `make check` before a pull request (as in CI), `make check-all` before a release; each of their
# parts is a target. CONTRIBUTING.md has their durations.
#
# There are two build folders: `.build` for the packages that use the library without traits, and `.build/traits` for those with all
# traits, as each other set of traits compiles the library again. Examples, whose command the README shows, and Verify, whose modules have
# the same names, keep their own. No flag turns warnings into errors; `warnings` reads the diagnostics that the builds left.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples/Package.swift Examples/Sources Examples/Tests \
	Examples/Service/Package.swift Examples/Service/Sources Examples/Service/Tests \
	Examples/notes/Package.swift Examples/notes/Sources Examples/notes/Tests \
	Tool/Package.swift Tool/Sources Tool/Tests Adopt/Package.swift Adopt/Sources Adopt/Tests \
	Evidence/Verify/Package.swift Evidence/Verify/Sources/SwiftUIStandIn Evidence/Verify/Sources/SecurityStandIn \
	Evidence/Verify/Sources/ViewOperations Evidence/Verify/Tests Evidence/Verify/AppleCheck/Planted \
	Evidence/Torture/Sources Evidence/Torture/Etcd Evidence/Laws \
	Evidence/Benchmarks/Package.swift Evidence/Benchmarks/Sources Evidence/Benchmarks/Operations Evidence/Benchmarks/Tests

# Lanes of checks, two at a time; checks that share a build folder are one lane, joined by commas. EXCEPT leaves checks out.
GATE := lint,prose,size,test,compile-tests,stack,tool,resolution products,interface,documentation,etcd-if-changed verify,examples \
	instructions,optimized-code,reading-path,torture-short,laws-short apple-check,fuzz-corpus,adopt-if-changed
ALL := lint prose size test compile-tests stack tool products interface documentation structure imports warnings instructions optimized-code \
	reading-path torture-short laws-short resolution verify view-instructions apple-check other-platforms musl-check examples example-packages fresh-clone \
	getting-started first-snippets install-check full-tests laws torture mutants fuzz thread-sanitizer address-sanitizer \
	opencombine etcd-tests service-etcd adopt-tests adopt-projects page syntax-versions benchmarks
EXCEPT ?=

# The build folders of debug builds that the checks leave.
BUILDS := .build .build/traits Examples/.build Evidence/Verify/.build Adopt/.build

# The modules with a recorded interface on Linux, all of which the tests of the products need.
INTERFACES := Preferences PreferencesSchema PreferencesEditing PreferencesValidation PreferencesInspection PreferencesTesting \
	PreferencesFoundation PreferencesKeyring PreferencesArgumentParser PreferencesConfiguration PreferencesMacros PreferencesEtcd

# The files that the tests with etcd and the tests of prefs-adopt cover; the gate runs these tests unless they passed with the same files
# on this machine. For etcd: the product, its tests, and the code below: the contract of backends, the core, and the stores over it.
ETCD_COVERED := Package.swift Sources/PreferencesEtcd Tests/Products/Package.swift Sources/PreferencesSchema/PreferenceSchema.swift \
	Sources/PreferencesSchema/PreferenceSchema+Property.swift Tests/Products/PreferencesEtcdTests Tests/Products/EtcdTestSupport \
	Evidence/Torture/Etcd Tests/TestSupport Tests/FileTestSupport Examples/Service/create-etcd-user \
	Sources/PreferencesTesting/Contract Sources/CPreferences Sources/Preferences/System Sources/Preferences/Core \
	$(addprefix Sources/Preferences/Preference/,PreferenceStore.swift PreferenceStore+Backend.swift PreferenceStore+Loading.swift \
	PreferenceStore+Observing.swift PreferenceStore+Transaction.swift PreferenceStore+Values.swift PreferenceTransaction.swift)
ADOPT_COVERED := Adopt Scripts/interfaces/Preferences.txt

.PHONY: quick check check-all format record-interface build build-products warnings fresh-clone full-tests torture mutants fuzz etcd-tests service-etcd \
	etcd-if-changed adopt-if-changed adopt-tests adopt-projects page documentation syntax-versions benchmarks opencombine thread-sanitizer \
	address-sanitizer getting-started first-snippets laws install-check install release-tool uninstall debian-package \
	lint prose size test compile-tests interface imports stack structure instructions optimized-code reading-path torture-short laws-short resolution products verify view-instructions \
	tool apple-check other-platforms musl-check examples example-packages fuzz-corpus mac

quick: lint build test
	Scripts/check-warnings .build

check:
	Scripts/run-checks --jobs 2 --except "$(EXCEPT)" --then structure --then warnings $(GATE)

check-all:
	Scripts/run-checks --except "$(EXCEPT)" $(ALL)

# The tool `prefs`.

# The folder to install to, as in `make install PREFIX=$$HOME/.local`; see Scripts/install-tool for the other variables.
PREFIX ?= /usr/local
export DESTDIR TRAITS BUILD

install:
	Scripts/install-tool "$(PREFIX)"

# For `make release-tool && sudo make install`, if root has no Swift.
release-tool:
	Scripts/install-tool --build

uninstall:
	Scripts/install-tool --uninstall "$(PREFIX)"

# A package for Debian and its derivatives, .build/prefs_VERSION_ARCHITECTURE.deb.
debian-package:
	Scripts/make-debian-package

# Targets that change files.

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

record-interface: build-products
	Scripts/check-interface --record .build/traits $(INTERFACES)

# The gate.

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

build:
	$(SWIFT) build --build-tests

build-products:
	Scripts/package build Tests/Products --build-tests

# The terms and the spelling of comments, messages, guides and names.
prose:
	Scripts/check-prose

# No total of code, types, public declarations or words is larger than Evidence/Benchmarks/size records.
size:
	Scripts/count-size

# With a tenth of the random rounds and some of the faults; `full-tests` runs all.
test:
	$(SWIFT) test

# Valid client code compiles, and invalid client code is rejected with the expected message.
compile-tests:
	Scripts/check-compile-tests

# The public interfaces equal the recorded ones.
interface: build-products
	Scripts/check-interface .build/traits $(INTERFACES)

# A set of a preference passes no more functions, types and locks than Evidence/Benchmarks/stack records.
stack: build
	Scripts/check-stack .build

# The pages build without a warning, and every public symbol has a comment; prints where the pages are.
documentation: build-products
	Scripts/check-documentation .build/traits $(INTERFACES)

# No folder of a module depends on one above it, and no module of the library is compiled for the host, too, in the existing builds; runs
# after the checks that build.
structure: build
	Scripts/check-structure $(patsubst %/debug/index,%,$(wildcard $(addsuffix /debug/index,$(BUILDS))))

# No compiler warning in the existing builds; runs after the checks that build.
warnings:
	Scripts/check-warnings $(wildcard $(BUILDS))

# No operation takes a tenth more instructions, or one more allocation, than Evidence/Benchmarks/instructions records.
instructions:
	Scripts/count-instructions

# The modules of a client have at most a twentieth more instructions to compile than Evidence/Benchmarks/optimized-code records.
optimized-code:
	Scripts/count-optimized-code

# The isolation of stores adds no instructions to a read.
reading-path:
	Scripts/count-reading-path.sh

# The experiments with the file store, with a tenth of their rounds; also checks that the mutants still apply to the sources. They use
# internals, so they need a debug build.
torture-short:
	Evidence/Torture/mutants --fit
	$(SWIFT) build --product torture
	.build/debug/torture short

# The laws over 1,000 random sequences of calls; `laws` checks 20,000.
laws-short:
	$(SWIFT) build -c release --product laws
	.build/release/laws all 1000

# A client resolves only the packages that its traits need.
resolution:
	Scripts/check-resolution

adopt-if-changed:
	Scripts/run-if-changed adopt Scripts/test-adopt $(ADOPT_COVERED)

etcd-if-changed:
	Scripts/run-if-changed etcd Scripts/test-etcd $(ETCD_COVERED)

# The products beside `Preferences`, without etcd's servers; the documents; the macros' expansions and what their users compile.
products:
	Scripts/package test Tests/Products --skip PreferencesEtcdTests
	Scripts/package test Tests/Macros
	Scripts/check-compile-tests --macros
	Evidence/Verify/apple-check --macros macOS

# Runs the code for Apple's platforms on Linux, with Foundation's user defaults and mocks of SwiftUI and the cloud. Not in parallel, as
# every store of the process is notified of every change of any user defaults.
verify:
	XDG_CONFIG_HOME=$$(mktemp -d) $(SWIFT) test --package-path Evidence/Verify --no-parallel

# The instructions that views cost.
view-instructions:
	Scripts/count-instructions --views

tool:
	Scripts/package test Tool
	Scripts/check-install --layout

# Type-checks the sources for macOS and iOS without their SDKs, and the tests for macOS; `other-platforms` has the other systems.
apple-check:
	Evidence/Verify/apple-check macOS iOS

# The examples that need traits are tested with the products.
examples:
	$(SWIFT) test --package-path Examples
	Scripts/check-tour
	Scripts/check-resolution --built Examples/.build

# The inputs that the fuzzer found interesting, or that failed once.
fuzz-corpus:
	Evidence/Fuzz/run 0

# All checks that need a Mac: the tests with Apple's frameworks run nowhere else.
mac:
	Scripts/check-mac

# The rest of `make check-all`.

# Type-checks the library and the tool over the headers of musl.
musl-check:
	Scripts/package build Tool
	Evidence/Verify/musl-check

# Type-checks the sources for tvOS, watchOS and visionOS.
other-platforms:
	Evidence/Verify/apple-check tvOS watchOS visionOS

# The page of `prefs serve` in a headless Chromium; `Scripts/check-page --screenshots` creates the guide's pictures.
page:
	Scripts/package build Tool
	Scripts/check-page

# The packages of the examples that need traits, as their users build them.
example-packages:
	$(SWIFT) test --package-path Examples/Service
	$(SWIFT) test --package-path Examples/notes
	Scripts/check-warnings Examples/Service/.build Examples/notes/.build

# Each file imports only modules that it uses, according to the index of the builds.
imports: build build-products
	Scripts/package build Tool --build-tests
	Scripts/check-imports $(filter-out Evidence/Verify/.build,$(patsubst %/debug/index,%,$(wildcard $(addsuffix /debug/index,$(BUILDS)))))

# The README's commands in a fresh clone.
fresh-clone:
	Scripts/run-readme --in-fresh-clone

# The steps of the guide "Getting started".
getting-started:
	Scripts/check-getting-started

# The installed tool works on a plain Debian without Swift.
install-check:
	Scripts/check-install

# All random rounds and all faults.
full-tests:
	FULL_TESTS=1 $(SWIFT) test

# `.build/release/laws` prints how to check a single law, or from another seed.
laws:
	$(SWIFT) build -c release --product laws
	.build/release/laws all 20000

# The first snippet of the README and of each guide, in an empty package.
first-snippets:
	Scripts/check-first-snippets

# The experiments with the file store; `swift run torture` prints how to run a single one for longer.
torture:
	$(SWIFT) build --product torture
	.build/debug/torture all

# The experiments detect the removal of each safeguard.
mutants:
	Evidence/Torture/mutants

fuzz:
	Evidence/Fuzz/run 60s

# The sanitizer's runtime doesn't survive a fork of a program with threads, so one test is left out.
thread-sanitizer:
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/thread-sanitizer-suppressions'" \
		$(SWIFT) test --sanitize=thread --scratch-path .build/tsan --no-parallel --skip ForkTests
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/thread-sanitizer-suppressions'" XDG_CONFIG_HOME=$$(mktemp -d) \
		$(SWIFT) test --package-path Evidence/Verify --sanitize=thread --scratch-path Evidence/Verify/.build/tsan --no-parallel

# The processes of ProgramTests don't get the option, so those tests are left out.
address-sanitizer:
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/asan --no-parallel --skip ProgramTests

# Publishers on platforms without Combine, with the trait OpenCombine.
opencombine:
	$(SWIFT) test --package-path Tests/OpenCombineTests
	Scripts/check-warnings Tests/OpenCombineTests/.build

# Stores on real clusters of etcd, with the trait Etcd. The experiments accept a count, and `fire` also a seed:
# `Scripts/package run Tests/Products etcd-torture fire 10000 42`.
etcd-tests:
	Scripts/run-if-changed --always etcd Scripts/test-etcd $(ETCD_COVERED)
	Scripts/check-etcd

# The example of a service reads a fleet from etcd, with the trait Etcd.
service-etcd:
	$(SWIFT) build --package-path Examples/Service --traits Etcd --scratch-path Examples/Service/.build/etcd
	Scripts/check-warnings Examples/Service/.build/etcd
	# Otherwise the next build without the trait would fetch the packages that this one needed.
	rm -f Examples/Service/Package.resolved

# `prefs-adopt`, which builds swift-syntax.
adopt-tests:
	Scripts/run-if-changed --always adopt Scripts/test-adopt $(ADOPT_COVERED)

# It finds the keys in public projects that were found by hand; needs the network.
adopt-projects: build
	Scripts/check-adopt

# The macros with other versions of swift-syntax than that of `products`.
syntax-versions:
	Scripts/check-syntax-versions

# Each row of the benchmarks runs; times aren't checked. In CI, all peers must be installed.
benchmarks:
	$(SWIFT) run -c release --package-path Evidence/Benchmarks benchmarks --quick
	$(SWIFT) test -c release --package-path Evidence/Benchmarks --disable-testable-imports
