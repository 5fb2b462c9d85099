"""Answers to probes as files in a trial's directory: probes/<id>.json (what, and scores by group) and probes/<id>.npz
(every case)."""

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.scoring import METHOD, CaseAnswers, LadderHead, group_score, solved
from gonn_core.files.json_files import read_json
from gonn_core.files.seals import digest_of, sealed_json
from gonn_core.files.told import tell

FORMAT = 1
_HEAD = "ladder_head_"
"""Prefix of the arrays that only nets with such a head have."""
_AGAIN = "`gonn probe` puts them again"
_SUMMARY = {"format", "id", "method", "weights", "suite", "samples", "published", "groups"}
_ARRAYS = ("right", "wrong", "share", "chance", "group", "distance", "cluster", "policies")


@dataclass(frozen=True)
class ProbeAnswers:
    """One stored set of answers. `summary` is its JSON file: id, method, weights and suite (digests), samples, groups
    (the list of groups, each with cases, found, score, right, wrong), published (names of the documents' positions)."""

    summary: dict
    path: Path = field(repr=False)
    """The .npz file."""

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """By case: right, wrong, share, chance, group (an index into the summary's groups), distance (-1: none),
        cluster; and policies (P, 361) of `published`."""
        try:
            data = self.path.read_bytes()
            if self.summary.get("arrays", digest := digest_of(data)) != digest:
                raise Damaged(self.path, f"damaged: not the arrays that were written; {_AGAIN}")
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                return {
                    name: file[name] for name in (*_ARRAYS, *(name for name in file.files if name.startswith(_HEAD)))
                }
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise Damaged(self.path, f"not readable answers to probes ({error}); {_AGAIN}") from None

    def solved(self) -> np.ndarray:
        """(N,) 1 found, 0.5 tie, 0 not."""
        return solved(CaseAnswers(*(self.arrays[name] for name in CaseAnswers._fields)))

    def policy(self, case: str) -> np.ndarray:
        """(361,) move probabilities in one of the documents' positions."""
        return self.arrays["policies"][self.summary["published"].index(case)]

    @property
    def ladder_head(self) -> LadderHead | None:
        """What the net's ladder head said; None for a net without one."""
        arrays = [self.arrays[_HEAD + name] for name in LadderHead._fields if _HEAD + name in self.arrays]
        return LadderHead(*arrays) if arrays else None

    def laddered(self, case: str) -> np.ndarray | None:
        """(361,) probabilities of the ladder head in one of the documents' positions; None for a net without one."""
        head = self.ladder_head
        return None if head is None else head.maps[self.summary["published"].index(case)]


def answers_id(weights: str, suite: str) -> str:
    """16 hex digits over all that decides the answers: digests of weights and suite, and the method."""
    return hashlib.sha256(f"{weights}\n{suite}\nprobes {METHOD}".encode()).hexdigest()[:16]


def pack(suite: Suite, given: CaseAnswers, policies: np.ndarray, head: LadderHead | None = None) -> bytes:
    """Content of the .npz file; policies (P, 361) of the documents' positions, which are the suite's first cases; head:
    of a net with a ladder head."""
    buffer = io.BytesIO()
    np.savez(
        buffer,
        right=given.right,
        wrong=given.wrong,
        share=given.share,
        chance=np.array([case.chance if case.right else np.nan for case in suite.cases]),
        group=np.array([suite.groups.index(case.group) for case in suite.cases], np.uint8),
        distance=np.array([-1 if case.distance is None else case.distance for case in suite.cases], np.int8),
        cluster=np.unique([case.cluster or case.name for case in suite.cases], return_inverse=True)[1].astype(np.int32),
        policies=policies.astype(np.float32),
        **{_HEAD + name: array for name, array in (head._asdict() if head else {}).items()},
    )
    return buffer.getvalue()


def summarise(
    suite: Suite, given: CaseAnswers, weights: str, samples: int, published: list[str], arrays: bytes | None = None
) -> dict:
    """The JSON file of a set of answers. arrays: content of the .npz file, whose digest stands there."""
    groups = []
    for name in suite.groups:
        inside = np.array([case.group == name for case in suite.cases])
        cases = [case for case in suite.cases if case.group == name]
        score = group_score(cases, CaseAnswers(*(values[inside] for values in given)))
        groups.append({"name": name, **(score._asdict() if score else {"cases": 0})})
    return {
        "format": FORMAT,
        "id": answers_id(weights, suite.digest),
        "method": METHOD,
        "weights": weights,
        "suite": suite.digest,
        "samples": samples,
        "published": published,
        "groups": groups,
        **({} if arrays is None else {"arrays": digest_of(arrays)}),
    }


def to_json(summary: dict) -> bytes:
    """The summary as a file, sealed."""
    return sealed_json(summary, allow_nan=False)


def load_answers(trial: Path | str, weights: str) -> list[ProbeAnswers]:
    """The answers in a trial's directory that weights of this digest gave by this method, by id. What is damaged is
    told and left out: it counts as not put. Raises InputError for a file of another version."""
    loaded = []
    for path in sorted((Path(trial) / "probes").glob("*.json")):
        try:
            summary = read_json(path)
            if not isinstance(summary, dict) or not summary.keys() >= _SUMMARY:
                raise Damaged(path, "damaged: no answers to probes")
            if summary["format"] != FORMAT:
                raise InputError(path, f"not answers to probes of format {FORMAT}; remove it to put them again")
            if summary["weights"] == weights and summary["method"] == METHOD:
                answers = ProbeAnswers(summary, path.with_suffix(".npz"))
                _ = answers.arrays
                loaded.append(answers)
        except Damaged as damage:
            tell(damage, "the answers are left out; `gonn probe` puts the probes again")
    return loaded
