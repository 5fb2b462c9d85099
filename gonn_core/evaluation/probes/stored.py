"""Answers to probes: scores, and files in a trial's directory: probes/<id>.json (scores by group) and probes/<id>.npz
(all cases).

A case is *found* when the likeliest right move has a greater probability than everything it is set against (`Case` says
what), half found on a tie. Its *share* is the probability of all right moves in that of right and wrong ones together.
A group's score is the mean share, rescaled so that equal probabilities for all moves give 0 and nothing but right moves
1: (share - chance) / (1 - chance), chance being the mean of the cases' own; worse than chance is below 0. Shares, not
found cases, are scored: an untrained net finds all or none of a family's like drawings by tiny differences, but its
shares are those of chance.
"""

import hashlib
import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from gonn_core.errors import Damaged, InputError
from gonn_core.evaluation.probes.cases import Case, Suite
from gonn_core.files.json_files import read_json, tell
from gonn_core.files.seals import digest_of, sealed_json

FORMAT = 1
METHOD = 1
"""Version of how nets are asked and scored; part of the id of every stored file."""
_HEAD = "ladder_head_"
"""Prefix of the arrays that only nets with such a head have."""
_AGAIN = "`gonn probe` puts them again"
_SUMMARY = {"format", "id", "method", "weights", "suite", "samples", "published", "groups"}
_ARRAYS = ("right", "wrong", "share", "chance", "group", "distance", "cluster", "policies")


class CaseAnswers(NamedTuple):
    """Of each case of a suite, (N,) float32: the greatest probability among the right moves, and among what they are
    set against; and the share."""

    right: np.ndarray
    wrong: np.ndarray
    share: np.ndarray


class LadderHead(NamedTuple):
    """Of each case of a suite, (N,) float32, nan for cases that are not such a pair: the head's mean probability on the
    stones in question, in the position where the ladder works and in the one where it fails. maps (P, 361): its
    probabilities in the documents' positions."""

    works: np.ndarray
    fails: np.ndarray
    maps: np.ndarray


class GroupScore(NamedTuple):
    """Of `cases` cases: share found, score, and mean probabilities of the likeliest right and wrong moves."""

    cases: int
    found: float
    score: float
    right: float
    wrong: float


def solved(given: CaseAnswers) -> np.ndarray:
    """(N,) float64: 1 found, 0.5 tie, 0 not found."""
    return (given.right > given.wrong) + 0.5 * (given.right == given.wrong)


def rescaled(values: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """(N,) what each case adds to a group's score, whose mean the score is: (share - its own chance) / (1 - mean
    chance)."""
    return (values - chances) / (1 - chances.mean())


def group_score(cases: Sequence[Case], given: CaseAnswers) -> GroupScore | None:
    """The score of cases; those without a right move do not count. None when none counts."""
    scored = np.array([bool(case.right) for case in cases])
    if not scored.any():
        return None
    chances = np.array([case.chance for case in cases])[scored]
    answers = CaseAnswers(*(values[scored] for values in given))
    return GroupScore(
        cases=int(scored.sum()),
        found=float(solved(answers).mean()),
        score=float(rescaled(answers.share, chances).mean()),
        right=float(answers.right.mean()),
        wrong=float(answers.wrong.mean()),
    )


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
    """The JSON file of a set of answers. arrays: content of the .npz file, whose digest it holds."""
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
    reported and left out, as if the suite had not been asked. Raises InputError for a file of another version."""
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
