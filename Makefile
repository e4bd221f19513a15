# Everything a newcomer or CI runs. `make test` installs what the tests need, then passes or says why.
.PHONY: build test test-packages test-modules test-nginx soak check-deps lint bench bench-compare generate clean
.DEFAULT_GOAL := build

GO ?= go
# The load and model tests take minutes under the race detector; they have a bound all the same.
TEST_TIMEOUT ?= 80m

# Only a debugger needs DWARF: stack traces and profiles do not. Without it, a build from empty caches takes about a
# seventh less processor time.
build: ## the one binary
	CGO_ENABLED=0 $(GO) build -trimpath -gcflags=all=-dwarf=false -ldflags="-s -w" -o bin/chatd ./cmd/chatd

# As many packages run at once as there are cores, and twice as many tests of each: tests wait for servers. With a package
# more, those that take the processor held each other up until their leases and patience ran out.
TEST_JOBS ?= $(shell nproc)
TEST_PARALLEL ?= $(shell echo $$((2 * $$(nproc))))

# Everything is compiled once, with the race detector: the tests, the binary that they start, bench, and what `make lint`
# reads. Vet is part of lint alone. The modules beside this one, and what runs again behind nginx, need little of the
# machine and run at the same time, once the binary is there: commands that run at once compile the same package each.
test: export CHATD_E2E_BINARY := $(CURDIR)/bin/chatd-race
# A program with the race detector sleeps for a second before it ends, for reports of other threads: there are 80 of them here.
test: export GORACE := atexit_sleep_ms=50
# The random input is the same in every run, so that a failure is one of the commit; `make soak` looks for new ones.
test: export RAPID_CHECKS ?= 25
test: export RAPID_SEED ?= 1
test: export SEED ?= 1
# Compiling takes a fifth less of the processor with garbage collected less often. Nodes that tests start do not get this.
test lint: export GOGC ?= 400
test: check-deps ## every test, with the race detector
	flags="$$(scripts/race-flags)" && export GOFLAGS="$$flags" && $(GO) build -o $(CURDIR)/bin/chatd-race ./cmd/chatd
	@$(MAKE) --no-print-directory -j2 test-packages test-modules test-nginx

# The packages that take longest come first, so that none of them runs alone in the end.
LONGEST := ./e2e ./web ./store ./store/dump ./chat/statemachine ./queue ./store/doctor ./store/archive ./store/blob ./web/ws ./chat
test-packages:
	flags="$$(scripts/race-flags)" && export GOFLAGS="$$flags" && \
	$(GO) test -vet=off -shuffle=on -timeout $(TEST_TIMEOUT) -p $(TEST_JOBS) -parallel $(TEST_PARALLEL) $(LONGEST) ./...

test-modules:
	flags="$$(scripts/race-flags)" && export GOFLAGS="$$flags" && \
	for module in bench examples/queue; do (cd $$module && $(GO) test -vet=off -timeout $(TEST_TIMEOUT) ./...) || exit 1; done

# What clients do, once more behind nginx as it is installed; the page signs in by token there. The rest of ./e2e breaks
# nodes, measures, or steers connections, for which a proxy in between makes no difference or does not fit.
NGINX_TESTS := Page(TwoPeople|SurvivesARestart|UploadsByTus)|FirstSteps|InboxAndDirect|ClientResumes|StreamR|SendFromWithin
NGINX_TESTS := $(NGINX_TESTS)|GapsAre|LongPollWakes|MessageReaches|KillOfOneNode|Search$$|ShipAndProcess|ImportMessagesBeside|NginxAsInstalled
test-nginx:
	flags="$$(scripts/race-flags)" && export GOFLAGS="$$flags" && \
	$(GO) test -vet=off -timeout $(TEST_TIMEOUT) ./e2e -nginx -run '^Test($(NGINX_TESTS))'

# CI has time for RAPID_CHECKS runs of each test with random input, and for little load; this is for whoever has hours.
SOAK_CHECKS ?= 3000
soak: check-deps ## new random input, SOAK_CHECKS times, load with 20,000 messages, a real S3 server
	$(GO) test -race -timeout 1h ./e2e -run EveryReaderGetsEveryMessage -load 20000
	for on in sentinel cluster; do $(GO) test -race -timeout 1h ./e2e -deployment=$$on -load=20000 \
		-run 'EveryReaderGetsEveryMessage|TestTasksWhileWorkersDie|TestSchedulesWhileNodesDie' || exit 1; done
	$(GO) test -race -timeout 1h ./e2e -run 'TestAnnouncementSurvivesKills|TestManyAreNotifiedOnce' -announce=20000 -notify=10000
	$(GO) test -race -timeout 1h ./e2e -run TestPageAdminRetriesMany -letters=10000
	$(GO) test -race -timeout 1h ./e2e -run TestPageTimelineWindow -history=100000
	$(GO) test -race -timeout 1h ./e2e -nginx -run '^Test(BrowserInABlockedGroup|MembershipBounds|LastOneOut|History$$|TasksCommand$$)'
	GOBIN=$(CURDIR)/bin $(GO) install github.com/versity/versitygw/cmd/versitygw@v1.8.0
	$(GO) test -race -timeout 1h ./store/blob -run TestS3Conforms -versitygw=$(CURDIR)/bin/versitygw
	$(GO) test -race -timeout 1h ./e2e -run 'TestFilesInS3|TestLinksOfBucket' -versitygw=$(CURDIR)/bin/versitygw
	$(GO) test -race -timeout 12h ./chat ./chat/statemachine ./chat/live ./store ./store/archive ./queue ./store/embedded ./client/local -rapid.checks=$(SOAK_CHECKS)
	STEPS=300000 $(GO) test -count=1 -timeout 2h ./sdk -run 'TestJavaScript/model$$'
	$(GO) test -race -timeout 1h ./e2e -run 'TestRedisCluster$$' -cluster-load=20000
	$(GO) test -race -timeout 1h ./store -run 'TestClusterFaults$$' -v -fault-cycles=17 -fault-hang=15s
	$(GO) test -race -timeout 1h ./store -run 'TestSentinelFaults$$' -v -fault-cycles=20 -fault-hang=15s
	$(GO) test -race -timeout 3h ./e2e -run TestExportCarriesEverything -export 100000
	$(GO) test -race -timeout 1h -run 'TestSocketsThatOpenAtOnce' ./e2e -sockets=5000
	GOBIN=$(CURDIR)/bin $(GO) install github.com/caddyserver/caddy/v2/cmd/caddy@v2.8.4
	$(GO) test -race -timeout 1h -run 'TestSocketsOfADeadNodeComeBack' ./e2e -herd=10000
	$(GO) test -race -timeout 1h -run 'TestRollingRestart' ./e2e -caddy=$(CURDIR)/bin/caddy
	$(GO) test -race -timeout 2h -run 'TestClientsComeBackAtOnce' ./e2e -away=10000
	$(GO) test -race -timeout 1h -run 'TestArchiveSurvivesKills' ./e2e -archive-kills=20
	$(GO) test -race -timeout 1h -run 'TestKillLosesNothing$$' ./e2e -crashes=25
	$(GO) test -race -timeout 1h -run 'TestReleasedOnceUnderKills' ./e2e -release-kills=100
	$(GO) test -race -timeout 1h -run 'TestExpiryUnderKills' ./e2e -expiry-kills=50
	$(GO) test -race -timeout 2h -run 'TestRemindersUnderKills' ./e2e -v -quorum-kills=20 -quorum-members=10000
	$(GO) test -race -timeout 1h -run 'TestConformance/quorums' ./store -quorum-races=1000
	$(GO) test -timeout 1h -run 'TestExpiryIsPunctual' ./e2e -v -expiry-messages=100000
	$(GO) test -race -timeout 3h -run 'Test(Rules|Blocks)UnderWrites' ./e2e -rule-races=1000
	$(GO) test -race -timeout 1h -run 'TestArchiveAwayUnderSends' ./e2e -archive-away=20s
	$(GO) test -race -timeout 1h -run 'TestCountsOnceUnderKills' ./examples/daily-by-place -lines=10000000
	$(GO) test -race -timeout 1h -run 'TestShippedLinesSurviveKills' ./e2e -ship=1024 -ship-kills=10
	$(GO) test -race -timeout 1h -run 'TestShipWaitsForAStoppedProcessor' ./e2e -ship-stop=30s

check-deps: ## redis-server, PostgreSQL, nginx, chromium, node and python3: real ones, the tests start them
	@scripts/install-test-deps

lint: ## formatting, static analysis, tidy modules
	@scripts/lint

bench: check-deps ## figures and ratios measured in one run, as a table and in bench/RESULTS.md
	cd bench && $(GO) run . -write ..

BASE ?= main
bench-compare: ## the Go benchmarks of BASE and of this tree, compared by benchstat
	@scripts/bench-compare $(BASE)

generate: ## what is made of web/openapi.yaml, and of the page's sources
	$(GO) generate ./...

clean:
	rm -rf bin
