"""Input planes: named sets, made from rows of the position store by kernels. `planes.make_planes` is the one way in."""
