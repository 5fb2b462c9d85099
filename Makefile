# Every target is one call of Python. Settings are passed through the environment as they were typed: neither the shell nor
# make reads their values as code. What is given besides is refused by orchestration/makefile.py, which reads this file.
.DEFAULT_GOAL := help
PYTHON ?= python3
SETTINGS = NAME DATA BUDGET PRECISION SEEDS BASE DESIGN DEVICE RUNNER DATA_DIR PORT STUDY TORCH LR ARM TRIALS SEED RATES FROM RAY_ADDRESS SAMPLES A B GAMES LEVEL RULES CLAIM RUNS HOLD FOLD FUTILITY CONTROL_SEEDS FIRST_LOOK TOPIC FIND COMPILE
export GONN_MAKE_GIVEN := $(foreach each,$(.VARIABLES),$(if $(filter command,$(origin $(each))),$(each)))
export GONN_MAKE_GOALS := $(MAKECMDGOALS)
$(foreach each,$(SETTINGS),$(if $(filter command,$(origin $(each))),$(eval override $(each) := $$(value $(each)))))
export PYTHON $(SETTINGS)
GO = @"$$PYTHON" orchestration/bootstrap.py
DATA_SETTINGS = --data "$$DATA" --data-dir "$$DATA_DIR"
IN_PARALLEL = --numprocesses auto
STUDY_SETTINGS = $(DATA_SETTINGS) --budget "$$BUDGET" --precision "$$PRECISION" --seeds "$$SEEDS" --samples "$$SAMPLES" --base "$$BASE" --design "$$DESIGN" --device "$$DEVICE" --compile "$$COMPILE" --lr "$$LR" --claim "$$CLAIM" --runs "$$RUNS" --hold "$$HOLD" --fold "$$FOLD" --futility "$$FUTILITY" --control-seeds "$$CONTROL_SEEDS" --first-look "$$FIRST_LOOK"

.PHONY: list show plan ablation scale lr-search report ui status stop models match rate elo data import sync clean doctor help setup queue lint test test-quick test-system test-cards

##@ Finding enhancements
list: ## enhancements by topic, with what was measured here [TOPIC=input|block|head|loss|optimiser|data|schedule FIND=words]
	$(GO) list --topic "$$TOPIC" --find "$$FIND"
show: ## one enhancement: what it changes, its claims and sources: NAME=parametric_relu
	$(GO) show "$$NAME"

##@ Studies
plan: ## what that study would train, how long it takes, what it could show: the settings of make ablation
	$(GO) plan "$$NAME" $(STUDY_SETTINGS)
ablation: ## run a study: does it help? NAME=parametric_relu, or several: a,b,c [DATA=starter BUDGET=cpu PRECISION=fp32|bf16 SEEDS=4|4..16 SAMPLES=25k,50k BASE=gonn-b5 DESIGN=add-one|leave-one-out|cumulative|factorial|screen DEVICE=auto COMPILE=none|body|graphs RUNNER=ray|local LR=0.1|search CLAIM=… CONTROL_SEEDS=8 FUTILITY=0.01 FIRST_LOOK=yes|no; of a screen: RUNS=64 HOLD=… FOLD=…]
	$(GO) ablate "$$NAME" $(STUDY_SETTINGS) --runner "$$RUNNER"
scale: ## a base alone over samples, which tells what effects are worth: BASE=gonn-b5 [DATA=… BUDGET=cpu PRECISION=fp32|bf16 SAMPLES=25k,50k,100k,200k SEEDS=4]
	$(GO) scale "$$BASE" $(DATA_SETTINGS) --budget "$$BUDGET" --precision "$$PRECISION" --samples "$$SAMPLES" --seeds "$$SEEDS" --device "$$DEVICE" --compile "$$COMPILE" --lr "$$LR" --runner "$$RUNNER"
lr-search: ## find a learning rate: NAME=gonn-b5, or an enhancement with ARM=on|off [BASE=… DATA=… BUDGET=cpu PRECISION=fp32|bf16 TRIALS=16 SEED=1000 RATES=low,high]
	$(GO) search run "$$NAME" $(DATA_SETTINGS) --budget "$$BUDGET" --precision "$$PRECISION" --base "$$BASE" --arm "$$ARM" --trials "$$TRIALS" --seed "$$SEED" --rates "$$RATES" --device "$$DEVICE" --compile "$$COMPILE" --runner "$$RUNNER"
report: ## tables and figures of all studies, from the trial directories
	$(GO) report
ui: ## the MLflow UI on 127.0.0.1 [PORT=5000 STUDY=…]
	$(GO) ui --port "$$PORT" --study "$$STUDY"
status: ## studies and searches: trials by state, rate, failures
	$(GO) status
stop: ## ask running commands to pause; the same commands go on later [STUDY=…]
	$(GO) stop "$$STUDY"

##@ Nets that play
models: ## trained nets to play with: ids, accuracy, Elo [BASE=gonn-b5]
	$(GO) models "$$BASE"
match: ## games between nets or engines: A=TRIAL|gnugo|'any GTP command' B=… [GAMES=100 LEVEL=10 RULES=chinese|japanese SEED=1]
	$(GO) match "$$A" "$$B" --games "$$GAMES" --level "$$LEVEL" --rules "$$RULES" --seed "$$SEED"
rate: ## Elo of all players that met in matches
	$(GO) rate
elo: ## Elo of a run's snapshots by games among them and with GNU Go: BASE=gonn-b5 [DATA=… BUDGET=cpu SEED=1 GAMES=3000]
	$(GO) elo "$$BASE" --data "$$DATA" --budget "$$BUDGET" --seed "$$SEED" --games "$$GAMES"

##@ Games and machines
data: ## build the position store of a data set: DATA=starter|kgs|…|/my/sgfs [DATA_DIR=folder with the archives]
	$(GO) data build "$$DATA" --data-dir "$$DATA_DIR"
import: ## take over trial directories from another machine: FROM=folder
	$(GO) import "$$FROM"
sync: ## rebuild MLflow's records from the trial directories
	$(GO) sync
clean: ## what no study, search, match or queued trial refers to, and its size; `gonn clean --yes` removes it
	$(GO) clean

doctor: ## what this machine has, and which precision is faster on it: ten seconds [DEVICE=auto]
	$(GO) doctor --device "$$DEVICE"

##@ Developing
help: ## this text
	$(GO) help
setup: ## make .venv with the pinned versions (every target does this when needed)
	$(GO) setup
queue: ## trials worth GPU minutes: which are done, which is next
	$(GO) queue
lint: ## rules, formatting and types: ruff check, ruff format --check, mypy
	$(GO) lint
test: ## the test suite; what needs Ray, servers or killed processes is in test-system
	$(GO) test $(IN_PARALLEL) --dist worksteal -m "not system and not cards"
test-quick: ## the test suite without its slow tests
	$(GO) test $(IN_PARALLEL) --dist worksteal -m "not slow and not system and not cards"
test-system: ## tests that kill processes, start Ray and servers
	$(GO) test $(IN_PARALLEL) --dist loadgroup -m system
test-cards: ## a study of every enhancement on the smoke budget, some 25 minutes
	$(GO) test -m cards

.DEFAULT:
	$(GO) no-such-target
