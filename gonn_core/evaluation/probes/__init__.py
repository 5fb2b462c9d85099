"""Probes: positions in which it is known which move is right or wrong, put to a net.

Cases come from three places: the documents' test positions (`published`), drawn families that grow in one respect only
(`eyes`, `races`, `kos`), and ladders cut from games (`ladders`). `cases` says what a case is, `scoring` what a score
is, `measure` asks a net, `stored` reads and writes its answers. `gonn_core.trial.probe_answers` asks a trial's net.

Imports: features, files, go, gonn_core, nets, settings.
"""
