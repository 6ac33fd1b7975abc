# The few commands that a developer needs; `make` lists them.

GO        ?= go
BENCH     ?= .
BENCHTIME ?= 1s
FUZZTIME  ?= 30s
# The version that .ci/run uses.
STATICCHECK = $(shell sed -n 's/^staticcheck=//p' .ci/run)

export CGO_ENABLED ?= 0

.DEFAULT_GOAL := help
.PHONY: help build cuda beam web test race lint generate pictures bench fuzz release quick ci

help: ## list these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

build: ## build everything; the command line goes to bin/restore
	$(GO) build ./...
	$(GO) build -o bin/ ./cmd/restore

cuda: ## the command line with the CUDA backend, in bin/restore (needs a C compiler, and nothing of CUDA)
	CGO_ENABLED=1 CGO_CFLAGS="-O2 -I$(CURDIR)/backend/cuda/internal/cudaheader" $(GO) build -tags cuda -o bin/ ./cmd/restore

beam: ## the pipeline for Apache Beam, in bin/restore-beam
	$(GO) build -C beam -o ../bin/ ./restore-beam

web: ## the page in the browser, in web/dist, and bin/restore with the page in it (restore web)
	$(GO) run ./web/build -o web/dist
	$(GO) build -tags web -o bin/ ./cmd/restore

test: ## run the tests
	$(GO) test ./...

race: ## run the tests under the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race ./...

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w $$unformatted"; exit 1; }
	$(GO) vet ./... ./.ci/levels
	$(GO) run $(STATICCHECK) ./... ./.ci/levels

generate: ## write generated files anew
	$(GO) generate ./...

pictures: build ## make the pictures of the README anew
	bin/restore kernel shake --size 17 --seed 11 -o testdata/readme/kernel.png --force
	bin/restore degrade testdata/scene.png --kernel testdata/readme/kernel.png --sigma 0.01 --seed 1 --depth 8 -o testdata/readme/blurred.png --force
	bin/restore deblur --kernel testdata/readme/kernel.png testdata/readme/blurred.png -o testdata/readme/restored.png --force
	bin/restore deblur testdata/readme/blurred.png -o testdata/readme/estimated.png --force
	bin/restore kernel turn --angle 6 --width 452 --height 300 --x 200 --y 170 -o bin/turn.png --force
	bin/restore degrade testdata/scene.png --kernel bin/turn.png --kernel-grid 13x19 --sigma 0.004 --seed 3 --depth 8 --quality 98 -o testdata/readme/turned.jpg --force
	bin/restore deblur testdata/readme/turned.jpg -o testdata/readme/unturned.jpg --force
	bin/restore degrade testdata/scene.png --sigma 0.15 --seed 2 --depth 8 -o testdata/readme/noisy.png --force
	bin/restore denoise --sigma 0.15 testdata/readme/noisy.png -o testdata/readme/denoised.png --force
	bin/restore degrade testdata/scene.png --camera --iso 12800 --seed 5 -o bin/raw.dng --force
	bin/restore denoise bin/raw.dng --strength 0 -o testdata/readme/raw.png --force
	bin/restore denoise bin/raw.dng -o testdata/readme/rawdenoised.png --force

bench: ## run the benchmarks (BENCH=regexp BENCHTIME=1s)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem ./...

fuzz: ## run every fuzz target (FUZZTIME=30s each)
	bash .ci/fuzz $(FUZZTIME)

release: ## the program for all platforms, with checksums, in dist/ (needs a C compiler, and a commit)
	$(GO) run ./internal/release -o dist

quick: ## gofmt, go vet, staticcheck and go test -short, in minutes
	bash .ci/run quick

ci: ## everything that must hold before a change lands
	bash .ci/run
