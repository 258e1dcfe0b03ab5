# `make quick` after each change, `make check` before a pull request (it is what CI runs), `make check-all` before a release; each of
# their parts is a target. CONTRIBUTING.md tells their times.
#
# Each set of compiler flags has one build folder, and those of the README's commands are also the checks': no flag makes warnings
# errors, `warnings` reads what the builds left.

SWIFT ?= swift
SOURCES := Package.swift Sources Tests Examples/Package.swift Examples/Sources Examples/Tests \
	Examples/Service/Package.swift Examples/Service/Sources Examples/Service/Tests \
	Verify/Package.swift Verify/Sources/SwiftUIStandIn Verify/Sources/SecurityStandIn Verify/Sources/ViewOperations Verify/Tests Verify/AppleCheck/Planted \
	Torture/Sources Torture/Etcd \
	Tool/Package.swift Tool/Sources Tool/Tests Adopt/Package.swift Adopt/Sources Adopt/Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Operations Benchmarks/Tests

# Two lanes at a time; what shares a build folder is one lane, joined by commas. EXCEPT leaves parts out.
GATE := lint,prose,test,compile-tests,interface,imports,structure,documentation,instructions,reading-path,torture-short,resolution,etcd-if-changed,traits,adopt-if-changed \
	verify,view-instructions tool apple-check examples fuzz-corpus
ALL := lint prose test compile-tests interface imports structure documentation instructions reading-path torture-short resolution traits \
	verify view-instructions tool apple-check examples warnings fresh-clone getting-started install-check full-tests torture mutants fuzz \
	thread-sanitizer address-sanitizer opencombine etcd-tests adopt-tests adopt-projects page syntax-versions benchmarks
EXCEPT ?=

# What the tests with etcd and those of prefs-adopt cover; the gate runs them only if one of these changed since they passed. Of etcd
# the product and its tests, and what they build on: the contract of backends, the stores that call one, locks and threads.
ETCD_COVERED := Package.swift Sources/PreferencesEtcd Tests/PreferencesEtcdTests Tests/EtcdTestSupport Torture/Etcd \
	Tool/Package.swift Tool/Sources/PrefsCommands/Places Tool/Tests/PrefsTests/EtcdTests.swift \
	Tool/Tests/PrefsTests/Support/EtcdServer.swift Tool/Tests/PrefsTests/Transcripts/Etcd \
	Sources/PreferencesTesting/Contract Sources/Preferences/Backends Sources/Preferences/Stores Sources/DurableFile/Threads
ADOPT_COVERED := Adopt Scripts/interfaces/Preferences.txt

.PHONY: quick check check-all format record-interface build warnings fresh-clone full-tests torture mutants fuzz etcd-tests \
	etcd-if-changed adopt-if-changed adopt-tests adopt-projects page documentation syntax-versions benchmarks opencombine thread-sanitizer \
	address-sanitizer getting-started install-check install release-tool uninstall debian-package \
	lint prose test compile-tests interface imports structure instructions reading-path torture-short resolution traits verify view-instructions \
	tool apple-check examples fuzz-corpus mac

quick: lint build test
	Scripts/check-warnings .build

check:
	Scripts/run-checks --jobs 2 --except "$(EXCEPT)" --then warnings $(GATE)

check-all:
	Scripts/run-checks --except "$(EXCEPT)" $(ALL)

# The tool `prefs`.

# Where it goes, as in `make install PREFIX=$$HOME/.local`; see Scripts/install-tool for what else can be said.
PREFIX ?= /usr/local
export DESTDIR TRAITS BUILD

install:
	Scripts/install-tool "$(PREFIX)"

# As `make release-tool && sudo make install`, where root has no Swift.
release-tool:
	Scripts/install-tool --build

uninstall:
	Scripts/install-tool --uninstall "$(PREFIX)"

# A package for Debian and what comes from it, .build/prefs_VERSION_ARCHITECTURE.deb.
debian-package:
	Scripts/make-debian-package

# Changes files.

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

record-interface: build
	Scripts/check-interface --record .build Preferences PreferencesTesting PreferencesFoundation PreferencesKeyring
	$(SWIFT) build --build-tests --traits Configuration,Macros --scratch-path .build/traits
	Scripts/check-interface --record .build/traits PreferencesConfiguration PreferencesMacros

# The gate.

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

build:
	$(SWIFT) build --build-tests

# The terms and the spelling of comments, messages, guides and names.
prose:
	Scripts/check-prose

# A tenth of the random rounds, and some of the faults; `full-tests` has all.
test:
	$(SWIFT) test

# What clients may write compiles, and what they must not is rejected with the message that they see.
compile-tests:
	Scripts/check-compile-tests --build-tests

# The public interface is the recorded one.
interface: build
	Scripts/check-interface .build Preferences PreferencesTesting PreferencesFoundation PreferencesKeyring

# Each file imports only what it uses, by what the build has indexed.
imports: build
	Scripts/check-imports .build

# No more than three files need each other in a circle, and none is longer than 500 lines.
structure: build
	Scripts/check-structure .build Preferences DurableFile

# The pages build without a warning, and every public symbol has a comment; prints where the pages are.
documentation: build
	Scripts/check-documentation .build Preferences PreferencesTesting PreferencesFoundation PreferencesKeyring

# No compiler warning in the builds that were made; after the checks that make them.
warnings:
	Scripts/check-warnings $(wildcard .build .build/traits Examples/.build Tool/.build Verify/.build Adopt/.build)

# No operation takes a tenth more instructions, or one allocation more, than Benchmarks/instructions says.
instructions:
	Scripts/count-instructions

# Isolated stores cost a read nothing, by instructions.
reading-path:
	Scripts/count-reading-path.sh

# The experiments with the file store, with a tenth of their rounds; that the mutants still fit the sources.
torture-short:
	Torture/mutants --fit
	$(SWIFT) run -c release torture short

# A client resolves only the packages that its traits ask for.
resolution:
	Scripts/check-resolution

adopt-if-changed:
	Scripts/run-if-changed Scripts/adopt-tests-passed Scripts/test-adopt $(ADOPT_COVERED)

etcd-if-changed:
	Scripts/run-if-changed Scripts/etcd-tests-passed Scripts/check-etcd $(ETCD_COVERED)

# The products behind the traits Configuration and Macros, in a build folder of their own.
traits:
	$(SWIFT) test --traits Configuration,Macros --scratch-path .build/traits --filter 'PreferencesConfigurationTests|PreferencesMacrosTests'
	Scripts/check-compile-tests --traits Configuration,Macros --scratch-path .build/traits
	Scripts/check-interface .build/traits PreferencesConfiguration PreferencesMacros
	Scripts/check-imports .build/traits
	Scripts/check-documentation .build/traits PreferencesConfiguration PreferencesMacros
	Verify/apple-check --macros macOS iOS
	# Else the next build without the traits would fetch what this one needed.
	rm -f Package.resolved

# Runs on Linux what is compiled for Apple's platforms alone, over Foundation's user defaults and stand-ins for SwiftUI and the cloud.
# One test after another, as every store of the process hears of every change of any user defaults.
verify:
	XDG_CONFIG_HOME=$$(mktemp -d) $(SWIFT) test --package-path Verify --no-parallel

# What views take of the library, by instructions.
view-instructions:
	Scripts/count-instructions --views

tool:
	$(SWIFT) test --package-path Tool
	Scripts/check-imports Tool/.build
	Scripts/check-install --layout

# Type-checks the sources for macOS, iOS, tvOS, watchOS and visionOS without their SDKs, and the tests for macOS.
apple-check:
	Verify/apple-check

examples:
	$(SWIFT) test --package-path Examples
	$(SWIFT) test --package-path Examples/Service
	Scripts/check-tour
	Scripts/check-imports Examples/.build
	Scripts/check-resolution --built Examples/.build

# The inputs that the fuzzer found interesting or failing once.
fuzz-corpus:
	Fuzz/run 0

# All that a Mac can prove: the tests over Apple's frameworks run nowhere else.
mac:
	Scripts/check-mac

# The rest of `make check-all`.

# The page of `prefs serve` in a headless Chromium; `Scripts/check-page` tells how to make its pictures.
page:
	$(SWIFT) build --package-path Tool
	Scripts/check-page

# The README's commands in a fresh clone.
fresh-clone:
	Scripts/run-readme --in-fresh-clone

# What the guide "Getting started" says, done as it says.
getting-started:
	Scripts/check-getting-started

# The installed tool works on a plain Debian, where there is no Swift.
install-check:
	Scripts/check-install

full-tests:
	FULL_TESTS=1 $(SWIFT) test

# The experiments with the file store; `swift run -c release torture` tells how to do one thing longer.
torture:
	$(SWIFT) run -c release torture all

# Whether the experiments see each safeguard that is taken out.
mutants:
	Torture/mutants

fuzz:
	Fuzz/run 60s

# The sanitizer's runtime doesn't survive a fork of a program with threads, so that one test is left out.
thread-sanitizer:
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/thread-sanitizer-suppressions'" \
		$(SWIFT) test --sanitize=thread --scratch-path .build/tsan -Xswiftc -DPTHREAD_LOCK --no-parallel --skip ForkTests
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/thread-sanitizer-suppressions'" XDG_CONFIG_HOME=$$(mktemp -d) \
		$(SWIFT) test --package-path Verify --sanitize=thread --scratch-path Verify/.build/tsan -Xswiftc -DPTHREAD_LOCK --no-parallel

# Child processes of the tests don't get the option, so those tests are left out.
address-sanitizer:
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/asan --no-parallel --skip ProgramTests

# Publishers where there is no Combine, behind the trait.
opencombine:
	$(SWIFT) test --package-path Tests/OpenCombineTests
	Scripts/check-warnings Tests/OpenCombineTests/.build

# Stores over real clusters of etcd, behind the trait. The experiments take a count, and fire a seed, too:
# `swift run --traits Etcd --scratch-path .build/etcd etcd-torture fire 10000 42`.
etcd-tests:
	Scripts/run-if-changed --always Scripts/etcd-tests-passed Scripts/check-etcd $(ETCD_COVERED)

# `prefs-adopt`, which builds swift-syntax.
adopt-tests:
	Scripts/run-if-changed --always Scripts/adopt-tests-passed Scripts/test-adopt $(ADOPT_COVERED)

# It finds in public projects what a person finds there; needs the network.
adopt-projects: build
	Scripts/check-adopt

# The macros with other versions of swift-syntax than `traits` has.
syntax-versions:
	Scripts/check-syntax-versions

# Each row of the benchmarks can be measured, not how fast it is; in CI no peer may be missing.
benchmarks:
	$(SWIFT) run -c release --package-path Benchmarks benchmarks --quick
	$(SWIFT) test -c release --package-path Benchmarks --disable-testable-imports
