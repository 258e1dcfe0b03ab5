# `make check` runs all that CI runs. Warnings are errors here, and here alone: the flags belong to a build folder of their own,
# so that a plain `swift build` neither fails with the next compiler's warnings nor builds everything again.
# STRICT takes the folder of the package, with a slash.

SWIFT ?= swift
STRICT = --scratch-path $(1).build/strict -Xswiftc -warnings-as-errors
SOURCES := Package.swift Sources Tests Examples/Package.swift Examples/Sources Examples/Tests \
	Verify/Package.swift Verify/Sources/SwiftUIStandIn Verify/Tests Verify/AppleCheck/Planted Torture/Sources Torture/Etcd \
	Tool/Package.swift Tool/Sources Tool/Tests Benchmarks/Package.swift Benchmarks/Sources Benchmarks/Tests

CHECKS := lint build imports test documentation api-breakage compile-tests examples tool verify apple-check opencombine etcd-tests \
	reading-path instructions benchmarks fuzz \
	thread-sanitizer address-sanitizer torture

.PHONY: check list-checks format mutants $(CHECKS)

check: $(CHECKS)

# For CI, which gives each a heading.
list-checks:
	@echo $(CHECKS)

lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SOURCES)

# That each file imports nothing that it doesn't use, by what the strict build has indexed.
imports: build
	Scripts/check-imports .build/strict

# Without a warning, and with a comment on every public symbol; prints where the pages are.
documentation:
	Scripts/check-documentation

# That nobody's program stops compiling, against the last version tag.
api-breakage:
	Scripts/check-api-breakage

format:
	$(SWIFT) format --in-place --parallel --recursive $(SOURCES)

build:
	$(SWIFT) build --build-tests $(call STRICT)

test:
	$(SWIFT) test $(call STRICT)

# What clients may write compiles, and what they must not is refused with the message that they see.
compile-tests:
	Scripts/check-compile-tests $(call STRICT)

examples:
	$(SWIFT) test --package-path Examples $(call STRICT,Examples/)
	Scripts/check-tour $(call STRICT,Examples/)
	Scripts/check-imports Examples/.build/strict
	Scripts/check-getting-started

# Without STRICT, which excludes the way in which packages of others are compiled; the script looks for warnings itself.
tool:
	Scripts/check-tool
	Scripts/check-imports Tool/.build

# Runs on Linux what is compiled for Apple's platforms alone, over Foundation's user defaults and stand-ins for SwiftUI and the cloud.
# One test after another, as every store of the process hears of every change of any user defaults.
verify:
	XDG_CONFIG_HOME=$$(mktemp -d) $(SWIFT) test --package-path Verify --no-parallel

# Type-checks the sources for macOS and iOS without their SDKs.
apple-check:
	Verify/apple-check

# Publishers where there is no Combine, behind the trait.
opencombine:
	$(SWIFT) test --traits OpenCombine --scratch-path .build/opencombine --filter PublisherTests

# Stores over real clusters of etcd, behind the trait; and that nobody else pays for it. The experiment takes a count:
# `swift run --traits Etcd --scratch-path .build/etcd etcd-torture increments 10000`.
etcd-tests:
	Scripts/check-etcd-is-optional
	$(SWIFT) test --traits Etcd --scratch-path .build/etcd --filter PreferencesEtcdTests
	$(SWIFT) run --traits Etcd --scratch-path .build/etcd etcd-torture increments 1000

# That isolated stores cost a read nothing, by instructions.
reading-path:
	Scripts/count-reading-path.sh

# That no operation takes a tenth more instructions than is written down in Benchmarks/instructions.
instructions:
	Scripts/count-instructions

# That each row of the benchmarks can be measured, not how fast it is; in CI no peer may be missing.
benchmarks:
	$(SWIFT) run -c release --package-path Benchmarks benchmarks --quick
	$(SWIFT) test -c release --package-path Benchmarks --disable-testable-imports

fuzz:
	Fuzz/run 60s

# The sanitizer's runtime doesn't survive a fork of a program with threads, so that one test is left out.
thread-sanitizer:
	TSAN_OPTIONS="suppressions='$(CURDIR)/Scripts/thread-sanitizer-suppressions'" \
		$(SWIFT) test --sanitize=thread --scratch-path .build/tsan -Xswiftc -DPTHREAD_LOCK --no-parallel --skip ForkTests

# Child processes of the tests don't get the option, so those tests are left out.
address-sanitizer:
	ASAN_OPTIONS=detect_leaks=0 $(SWIFT) test --sanitize=address --scratch-path .build/asan --no-parallel --skip ProgramTests

# The file store under fire, in about a minute when built; `swift run -c release torture` tells how to do one thing longer.
torture:
	Torture/mutants --fit
	$(SWIFT) run -c release torture all

# Whether the experiments see each safeguard that is taken out, in about eight minutes, so not with every check.
mutants:
	Torture/mutants
