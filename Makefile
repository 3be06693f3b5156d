# Every target is one command, from a fresh machine: what is missing is installed (Debian packages; see Scripts/install-dependencies).
# What needs more than a line is a script of its own in Scripts/.

.DEFAULT_GOAL := help
.PHONY: help run test bench stress tsan lint format docs release install uninstall clean

help:           ## print this list
	@echo "Cistern: remote JSON in a local database, under systemd"
	@echo
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 22

run:            ## the daemon at work on real data, in a folder that is thrown away (Ctrl-C ends it)
	@Scripts/run-demo

test:           ## lint, build and run every test; what .ci/run calls
	@Scripts/test $(if $(FILTER),--filter $(FILTER))

bench:          ## release builds beside a plain C++ program doing the same work; prints ratios
	@Benchmarks/run $(BENCH)

stress:         ## the long-running tests
	@Scripts/stress

tsan:           ## the tests under the thread sanitizer, in a build folder of their own
	@Scripts/tsan $(if $(FILTER),--filter $(FILTER))

lint:           ## swift format and the rules of the house (Scripts/check-house); changes nothing
	@Scripts/lint

format:         ## swift format, in place
	@$$(Scripts/find-swift) format --in-place --parallel --recursive Package.swift Sources Tests Plugins Examples

docs:           ## check the manual pages and print where the documents are
	@Scripts/docs

release:        ## the optimised binaries, with Swift's libraries inside
	@Scripts/build-release

install:        ## into DESTDIR= or, as root, into this system; your configuration is never overwritten
	@DESTDIR='$(DESTDIR)' Scripts/install

uninstall:      ## take it away again, but for configuration and data
	@DESTDIR='$(DESTDIR)' Scripts/uninstall

clean:          ## remove everything that was built
	@rm -rf .build .build-tsan .build-mutants .build-fuzz Benchmarks/.build Benchmarks/c-peer/.build
