import sys

import numpy as np
import pytest

from colabel.errors import InputError
from colabel.features import TorchFeatures
from colabel.features.optional import weights

torch = pytest.importorskip("torch")


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(11, 3, 4, 4))


def network() -> "torch.nn.Module":
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 5, 3), torch.nn.BatchNorm2d(5), torch.nn.Dropout(0.5)
    )


def test_output_is_flat_float32_and_free_of_batches(points: np.ndarray) -> None:
    module = network()
    rows = TorchFeatures(module, batch_size=4).transform(points)
    assert rows.shape == (11, 20)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, TorchFeatures(module).transform(points), atol=1e-6)
    np.testing.assert_array_equal(rows, TorchFeatures(module, 4).transform(points))


def test_each_part_keeps_its_mode_and_its_buffers(points: np.ndarray) -> None:
    module = network().train()
    module[1].eval()
    before = module[1].running_mean.clone()
    TorchFeatures(module).transform(points)
    assert [module.training, *(part.training for part in module)] == [True, True, False, True]
    assert torch.equal(module[1].running_mean, before)


def test_modes_come_back_after_an_error() -> None:
    module = network().train()
    with pytest.raises(RuntimeError):
        TorchFeatures(module).transform(np.ones((2, 7, 4, 4)))
    assert module.training


def test_integers_and_doubles_follow_the_module(points: np.ndarray) -> None:
    module = network().double()
    assert TorchFeatures(module).transform(points.astype(np.uint8)).shape == (11, 20)
    assert TorchFeatures(torch.nn.Flatten()).transform(points > 0).shape == (11, 48)


def test_no_points_keep_the_width() -> None:
    assert TorchFeatures(network()).transform(np.empty((0, 3, 4, 4))).shape == (0, 20)


def test_bad_input(points: np.ndarray) -> None:
    with pytest.raises(InputError, match="no torch module"):
        TorchFeatures(lambda x: x)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="batch size"):
        TorchFeatures(network(), batch_size=0).transform(points)
    with pytest.raises(InputError, match="numbers"):
        TorchFeatures(network()).transform(np.array([["a"]]))
    with pytest.raises(InputError, match="first dimension"):
        TorchFeatures(torch.nn.Flatten(0)).transform(points)
    with pytest.raises(InputError, match="finite"):
        TorchFeatures(torch.nn.Flatten()).transform(points * np.nan)


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    module = network()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(InputError, match=r"pip install 'colabel\[torch\]'"):
        TorchFeatures(module)


def test_other_weights_are_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "model"
    file.write_bytes(b"poisoned")
    with pytest.raises(InputError, match="SHA-256"):
        weights(file, "0" * 64)
    with pytest.raises(InputError, match="missing"):
        weights(tmp_path / "nothing", "0" * 64)
