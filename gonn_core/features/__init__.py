"""Input planes: named plane sets, made from rows of the position store by kernels.

sets.py                    names and order of the planes chosen; what is beyond the edge
source.py                  the arrays that planes are made from: a store's, or those of positions in no store
planes.py                  make_planes: the one way in for all sets; earlier boards
gonn.py                    GoNN's 26 planes
marks.py                   the planes that go-NN, Clark & Storkey and Cazenave share
cazenave_ladders.py        Cazenave's eight ladder planes, searched for
stored_ladders.py          their marks of a whole store, next to its arrays
chains.py, liberties_after.py    what the kernels are built of
targets.py, final_owner.py       what auxiliary heads learn

What each set can be asked for is said in gonn_core/settings/features.py.
"""
