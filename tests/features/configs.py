"""Each set with all its planes."""

from gonn_core.config import FeatureConfig

GONN = FeatureConfig()
GO_NN = FeatureConfig(set="go_nn", liberties=4, liberties_after=0, history=4, ladders=False, captures=True)
CLARK = FeatureConfig(set="clark", liberties=3, liberties_after=0, history=5, ladders=False, ones=False, edge="channel")
CAZENAVE = FeatureConfig(set="cazenave", liberties=5, liberties_after=6, third_line=True, zeros=True, ko_flag=True)
