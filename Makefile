# Every target is one call of Python. Settings are passed through the environment as they were typed: neither the shell nor
# make reads their values as code. The two lists are generated from ablations/settings.py (make remake).
.DEFAULT_GOAL := help
PYTHON ?= python3
SETTINGS = NAME BASE DATA DATA_DIR BUDGET PRECISION SAMPLES LR DESIGN RUNS HOLD FOLD SEEDS CONTROL_SEEDS FUTILITY CLAIM FIRST_LOOK DEVICE COMPILE RUNNER ARM TRIALS SEED RATES TOPIC FIND STUDY PORT A B GAMES LEVEL RULES FROM TORCH RAY_ADDRESS
TARGETS = list show plan ablation scale lr-search record report ui status stop models match rate elo data import sync clean doctor help setup queue remake lint test test-quick test-system test-cards
export GONN_MAKE_GIVEN := $(foreach each,$(.VARIABLES),$(if $(filter command,$(origin $(each))),$(each)))
export GONN_MAKE_GOALS := $(MAKECMDGOALS)
$(foreach each,$(SETTINGS) PYTHON GONN_HOME GONN_DATA GONN_CACHE MLFLOW_TRACKING_URI,$(if $(filter command,$(origin $(each))),$(eval override $(each) := $$(value $(each)))$(eval export $(each))))
export PYTHON $(SETTINGS)

.PHONY: $(TARGETS)
$(TARGETS):
	@"$$PYTHON" orchestration/bootstrap.py $@

.DEFAULT:
	@"$$PYTHON" orchestration/bootstrap.py no-such-target
