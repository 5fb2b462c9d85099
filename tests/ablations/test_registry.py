"""The declarations that come with the package, and the errors for bad ones."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from ablations.checks import check_card
from ablations.declarations import FOLDER, nearest
from ablations.registry import load_registry
from gonn_core.errors import InputError, SettingError
from tests.paths import FIXTURES

POSITIONS = FIXTURES / "gonn_positions.json"


@pytest.fixture(scope="module")
def registry():
    return load_registry()


@pytest.fixture
def folder(tmp_path):
    """A copy of the package's declarations, to be spoiled."""
    for kind in ("cards", "bases", "budgets", "published"):
        shutil.copytree(FOLDER / kind, tmp_path / kind)
    return tmp_path


def spoil(folder, file, old, new):
    path = folder / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def check(folder):
    """As `gonn check`."""
    load_registry(folder).check()


def error_of(call, *arguments, **named):
    with pytest.raises((SettingError, InputError)) as error:
        call(*arguments, **named)
    return str(error.value)


# What is declared


def test_claims_are_well_formed(registry):
    for card in registry.cards.values():
        for claim in card.claims:
            where = f"{card.id}.{claim.id}"
            assert claim.document and claim.section and claim.data, where
            if claim.base is not None:
                assert registry.base(claim.base).document == claim.document, (
                    f"{where}: the base stands for another document's net"
                )
            if claim.metric == "parameters":
                assert claim.samples is None and claim.value is not None and claim.base is not None, where
            if claim.base is not None and claim.samples is not None:
                assert claim.samples % registry.base(claim.base).config.training.batch_size == 0, where


def published_share(position, move: str) -> float:
    """What the net of a picture gave a move; 0 for one that the picture does not name."""
    words = position["published_output"].split()
    return float(dict(zip(words[::2], words[1::2], strict=False)).get(move, 0)) / 100


def test_probes_name_stored_positions_and_agree_with_their_published_output(registry):
    stored = json.loads(POSITIONS.read_text())
    probes = [
        claim
        for card in registry.cards.values()
        for claim in card.claims
        if claim.metric == "probe" and claim.probe.head == "policy"
    ]
    assert len(probes) >= 8
    for claim in probes:
        position = stored[claim.probe.position]
        assert claim.probe.move not in position["black"] + position["white"]
        level = max(
            published_share(other, claim.probe.move)
            for other in stored.values()
            if all(other[key] == position[key] for key in ("black", "white", "to_play"))
        )
        # A difference is at most what one arm shows.
        assert all(abs(end) <= level + 1e-9 or claim.direction == "decrease" for end in claim.bounds or ())
        if claim.evidence != "read_from_picture":
            continue
        other = claim.probe.minus if claim.quantity != "difference" else WITHOUT_IT.get(claim.probe.position)
        low, high = published_share_between(stored[claim.probe.position], claim.probe.move)
        if other is not None:
            taken_off = published_share_between(stored[other], claim.probe.move)
            low, high = low - taken_off[1], high - taken_off[0]
        assert claim.bounds is None or claim.bounds == pytest.approx((low, high)), f"{claim.id}: {low} to {high}"


WITHOUT_IT = {
    "dilated1": "nodilated1",
    "dilated2": "nodilated2",
    "dilated3": "nodilated3",
    "ladderinput2": "extraladdertargetfail2",
}
"""Picture of a net -> picture of the net that the document sets beside it."""


def published_share_between(position, move: str) -> tuple[float, float]:
    """What the net of a picture gave a move: one that it does not name has at most what its last one has."""
    words = position["published_output"].split()
    named = {name: float(share) / 100 for name, share in zip(words[::2], words[1::2], strict=False)}
    return (named[move],) * 2 if move in named else (0.0, min(named.values()))


def test_parameters_of_claims(registry):
    nets = pytest.importorskip("gonn_core.nets", reason="needs torch")
    from ablations.arms import resolve
    from gonn_core.features.sets import plane_names

    def count(config):
        return nets.count_parameters(config.net, len(plane_names(config.features)))

    for card in registry.cards.values():
        for claim in card.claims:
            if claim.metric == "parameters":
                arms = resolve(registry, card.id, "paper", base=claim.base)
                assert count(arms.on) - count(arms.off) == claim.value, card.id


# Errors


def test_unknown_names_list_the_nearest_first(registry):
    assert nearest("b", ["c", "ab", "b"]) == ["b", "ab", "c"]
    text = error_of(registry.card, "parametric_rel")
    assert text.startswith("NAME=parametric_rel: no such enhancement; valid: parametric_relu, ")
    assert error_of(registry.base, "gonn-b6").startswith(
        "BASE=gonn-b6: no such base; valid: gonn-b4, gonn-b5, gonn-b12, "
    )
    assert error_of(registry.budget, "cpus") == "BUDGET=cpus: no such budget; valid: cpu, gpu, paper, smoke"
    assert "\x1b" not in error_of(registry.card, "\x1b[31m" * 5000)


CARD = "cards/gonn/parametric_relu.yaml"


@pytest.mark.parametrize("file, old, new, where", [
    (CARD, "net.activation:", "net.activatoin:", "toggles.net.activatoin=relu: no such setting"),
    (CARD, "on: prelu", "on: gelu", "toggles.net.activation=gelu: not a valid value; valid: 'relu', 'prelu'"),
    (CARD, "on: prelu", "on: relu", "toggles.net.activation="),
    (CARD, "base: gonn-b4\n", "base: gonn-b44\n", "claims.early_loss.base=gonn-b44: no such base; valid: gonn-b4, "),
    (CARD, "metric: nats", "metric: loss", "claims.0.metric=loss: not a valid value; valid: 'nats', 'top1'"),
    (CARD, "id: parametric_relu", "id: prelu", "id=prelu: differs from the file's name; valid: parametric_relu"),
    (CARD, "system: gonn", "system: cazenave", "system=cazenave: differs from the folder's name; valid: gonn"),
    (CARD, "summary:", "sumary:", "summary=(missing): field required"),
    (CARD, "claims:", "claim:", "claims=(missing): "),
    (CARD, "value: -0.025", "value: 0.025", "claims.0="),
    (CARD, "value: -0.025", "range: [-0.01, -0.02]", "claims.0.range=[-0.01, -0.02]: "),
    ("cards/gonn/prelu_init.yaml", "card: parametric_relu", "card: prelu", "requires.card=prelu: no such enhancement"),
    ("cards/gonn/last_move_input.yaml", "gonn-b4: {features.history: {off: 0, on: 3}}",
     "gonn-b4: {features.ko: {off: false, on: true}}", "forms.gonn-b4=features.ko: "),
    ("bases/gonn-b5.yaml", "activation: prelu", "activaton: prelu", "config.net.activaton=prelu: no such setting"),
    ("bases/gonn-b5.yaml", "    batch_size: 200", "    batch_size: 200\n    init_seed: 3", "config.training.init"),
    ("budgets/cpu.yaml", "net.trunk.width: 32", "net.trunk.width: 33", "overrides."),
    ("budgets/cpu.yaml", "seeds: 4", "seeds: 0", "seeds=0"),
    ("budgets/cpu.yaml", "net.trunk.width: 32", "net.activation: relu", "overrides=net.activation: toggled by param"),
    ("budgets/cpu.yaml", "net.trunk.width: 32", "training.samples: 32", "overrides=training.samples: "),
    ("budgets/cpu.yaml", "samples: 100_000", "samples: 100_000\ncompress: true", "overrides=training.schedule.kind: "),
])  # fmt: skip
def test_bad_declarations_are_named(folder, file, old, new, where):
    """By what checks the file that is spoilt, which for a budget means all cards."""
    spoil(folder, file, old, new)
    registry = load_registry(folder)
    kind, _, name = file.removesuffix(".yaml").partition("/")
    use = {"cards": registry.card, "bases": registry.base, "budgets": registry.budget}[kind]
    if "toggled by" in where:
        use, name = registry.card, "cards/parametric_relu"
    text = error_of(use, name.rpartition("/")[2])
    assert text.startswith(f"{file}.{where}") and "\n" not in text


def test_a_bad_card_is_named_when_it_is_used(folder):
    """Nobody who uses another one hears of it."""
    spoil(folder, CARD, "net.activation:", "net.activatoin:")
    registry = load_registry(folder)
    assert registry.card("stem_kernel_5x5").id == "stem_kernel_5x5"
    for _ in range(2):
        assert error_of(registry.card, "parametric_relu").startswith(
            f"{CARD}.toggles.net.activatoin=relu: no such setting"
        )
    text = error_of(registry.card, "parametric_rel")
    assert text.startswith("NAME=parametric_rel: no such enhancement; valid: parametric_relu, ")


def test_files_out_of_place_are_not_passed_over(folder):
    path = folder / "cards" / "mine.yaml"
    path.write_text("id: mine\n")
    assert error_of(load_registry, folder) == f"{path}: not where declarations lie: cards/<system>/<id>.yaml"
    path.rename(folder / "bases" / "mine.yml")
    assert (
        error_of(load_registry, folder)
        == f"{folder / 'bases' / 'mine.yml'}: not where declarations lie: bases/<id>.yaml"
    )


def test_registry_needs_no_heavy_imports():
    code = (
        "import sys, ablations.arms; from ablations.registry import load_registry; load_registry();"
        "print([m for m in ('torch', 'ray', 'mlflow', 'numba', 'pandas', 'numpy', 'optuna') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=FOLDER.parent)
    assert done.stdout.strip() == "[]"


def test_arms_that_compute_the_same_are_declared_and_refused():
    """What a card says of budgets under which it is idle is true, and no other budget is."""
    registry = load_registry()
    card = registry.card("stall_halving")
    assert set(card.idle) == {"gpu"}
    unsaid = {**registry.cards, card.id: card.model_copy(update={"idle": {}})}
    with pytest.raises(
        SettingError, match=r"idle=gpu: on cazenave-7x128 both arms compute the same; training.schedule"
    ):
        check_card(replace(registry, cards=unsaid), unsaid[card.id])
    untrue = card.model_copy(update={"idle": {"gpu": "so", "paper": "not so"}})
    with pytest.raises(SettingError, match=r"idle=paper: on cazenave-7x128 the arms do not compute the same"):
        check_card(registry, untrue)
    with pytest.raises(SettingError, match="idle=never: no such budget"):
        check_card(registry, card.model_copy(update={"idle": {"never": "so"}}))


@pytest.fixture
def mine(tmp_path):
    """gonn-b5 in a file of somebody's own."""
    text = (FOLDER / "bases" / "gonn-b5.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("id: gonn-b5\nalso_called: [gonn-published-5b]\n", "id: mine\n"))
    return tmp_path / "mine.yaml"


def test_a_base_in_a_file_anywhere_is_read_like_ours(mine):
    """It is called by its file's name, and is no other net for that."""
    registry = load_registry()
    read = registry.base(str(mine))
    assert read.id == "mine.yaml" and read.config == registry.base("gonn-b5").config
    mine.unlink()
    assert registry.base("mine.yaml") is read, "its name is enough from then on"
    with pytest.raises(InputError, match=r"mine\.yaml: No such file"):
        load_registry().base(str(mine))


@pytest.mark.parametrize("old, new, said", [
    ("id: mine", "id: other", "{path}.id=other: differs from the file's name; valid: mine"),
    ("activation: prelu", "activation: gelu", "{path}.config.net.activation=gelu: not a valid value; valid: 'relu', "),
    ("schedule_end:", "lr: {cpux: 0.1}\nschedule_end:", "mine.yaml.lr=cpux: no such budget; valid: cpu, "),
    ("id: mine", "id: *mine", "{path}: line 4: aliases (*name) are not allowed"),
    ("id: mine", "#" * 2**18 + "\nid: mine", "{path}: larger than 256 KiB"),
])  # fmt: skip
def test_what_is_wrong_with_such_a_file_is_one_line(mine, old, new, said):
    spoil(mine.parent, mine.name, old, new)
    with pytest.raises((InputError, SettingError)) as caught:
        load_registry().base(str(mine))
    assert str(caught.value).startswith(said.format(path=mine)) and "\n" not in str(caught.value)
