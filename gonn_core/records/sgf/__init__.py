"""One SGF file -> games as numbers: main line, setup stones, ranks, result, and a hash invariant under symmetries."""
