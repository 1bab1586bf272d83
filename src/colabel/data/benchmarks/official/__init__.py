"""Public data sets in the files that their authors give out, from a local folder only.

One function per set, `Reading -> Benchmark`. Formats, counts and, where they are known beyond
doubt, checksums are compared; nothing is downloaded and nothing is unpickled.
"""

from collections.abc import Mapping

from colabel.data.benchmarks.official import (
    cifar,
    fed_isic2019,
    femnist,
    idx,
    mini_imagenet,
    scans,
    stl10,
    svhn,
    texts,
    uci,
)
from colabel.data.benchmarks.official.source import Official

_UCI = "https://archive.ics.uci.edu"
_KAGGLE = "https://www.kaggle.com/datasets"
_BINARY = "Take the binary version: {}."
_IDX = ("train-images-idx3-ubyte", "train-images-idx3-ubyte.gz")

_ALL = (
    Official(
        "acl_imdb", texts.acl_imdb, ("aclImdb", "acl_imdb/aclImdb", "acl_imdb"),
        ("train/pos",), "https://ai.stanford.edu/~amaas/data/sentiment",
    ),
    Official(
        "acl_imdb_unsup", texts.acl_imdb_unsup, ("aclImdb", "acl_imdb/aclImdb", "acl_imdb"),
        ("train/pos",), "https://ai.stanford.edu/~amaas/data/sentiment",
    ),
    Official("adult", uci.adult, ("uci_adult",), ("adult.data",), _UCI),
    Official(
        "brain_mri", scans.brain_mri, ("brain_mri", "brain_mri/brain_tumor_dataset"),
        ("yes", "no"), f"{_KAGGLE}/navoneel/brain-mri-images-for-brain-tumor-detection", 150,
    ),
    Official(
        "brain_mri_four", scans.brain_mri_four, ("brain_mri_four",), ("Training", "Testing"),
        f"{_KAGGLE}/masoudnickparvar/brain-tumor-mri-dataset", 150,
    ),
    Official("breast_cancer", uci.breast_cancer, ("uci_breast_cancer",), ("wdbc.data",), _UCI),
    Official(
        "chest_xray", scans.chest_xray, ("chest_xray", "chest_xray/chest_xray"),
        ("train/NORMAL", "test/NORMAL"), f"{_KAGGLE}/paultimothymooney/chest-xray-pneumonia", 224,
    ),
    Official(
        "cifar10", cifar.cifar10,
        ("cifar10/cifar-10-batches-bin", "cifar-10-batches-bin", "cifar10"),
        ("data_batch_1.bin", "test_batch.bin"), "https://www.cs.toronto.edu/~kriz/cifar.html",
        pickled=("cifar10/cifar-10-batches-py", "cifar-10-batches-py", "cifar10/data_batch_1"),
        instead=_BINARY.format("cifar-10-binary.tar.gz"),
    ),
    Official(
        "cifar100", cifar.cifar100, ("cifar100/cifar-100-binary", "cifar-100-binary", "cifar100"),
        ("train.bin", "test.bin"), "https://www.cs.toronto.edu/~kriz/cifar.html",
        pickled=("cifar100/cifar-100-python", "cifar-100-python", "cifar100/train"),
        instead=_BINARY.format("cifar-100-binary.tar.gz"),
    ),
    Official(
        "covertype", uci.covertype, ("uci_covertype",), ("covtype.data", "covtype.data.gz"), _UCI
    ),
    Official(
        "fashion_mnist", idx.fashion_mnist, ("fashion_mnist", "FashionMNIST/raw"), _IDX,
        "https://github.com/zalandoresearch/fashion-mnist",
    ),
    Official(
        "fed_isic2019", fed_isic2019.fed_isic2019, ("fed_isic2019",), fed_isic2019.TABLES,
        "https://github.com/owkin/FLamby (download and resize as it says)", 224,
    ),
    Official(
        "femnist", femnist.femnist, ("femnist", "femnist/data", "leaf/data/femnist/data"),
        ("all_data", "train"), "https://github.com/TalwalkarLab/leaf (preprocess.sh -s niid)",
    ),
    Official(
        "mini_imagenet", mini_imagenet.mini_imagenet, ("mini_imagenet", "miniImagenet"),
        ("train.csv", "mini_imagenet.npz"),
        "https://github.com/twitter-research/meta-learning-lstm (CSV files) and ImageNet", 84,
        pickled=("mini_imagenet/mini-imagenet-cache-train.pkl",),
        instead="Take the images with their CSV files.",
    ),
    Official("mnist", idx.mnist, ("mnist", "MNIST/raw"), _IDX, "http://yann.lecun.com/exdb/mnist"),
    Official(
        "mushroom", uci.mushroom, ("uci_mushroom",), ("agaricus-lepiota.data",), _UCI
    ),
    Official(
        "sentiment140", texts.sentiment140, ("sentiment140",),
        ("training.1600000.processed.noemoticon.csv",), "http://help.sentiment140.com",
    ),
    Official(
        "stl10", stl10.stl10, ("stl10/stl10_binary", "stl10_binary", "stl10"),
        ("train_X.bin",), "https://cs.stanford.edu/~acoates/stl10",
    ),
    Official(
        "svhn", svhn.svhn, ("svhn",), ("train_32x32.mat", "test_32x32.mat"),
        "http://ufldl.stanford.edu/housenumbers",
    ),
    Official(
        "svhn_extra", svhn.svhn_extra, ("svhn",), ("train_32x32.mat", "extra_32x32.mat"),
        "http://ufldl.stanford.edu/housenumbers",
    ),
    Official(
        "twitter", texts.twitter, ("twitter",), ("twitter_training.csv",),
        f"{_KAGGLE}/jp797498e/twitter-entity-sentiment-analysis",
    ),
    Official(
        "wine_colour", uci.wine_colour, ("uci_wine_quality",), ("winequality-red.csv",), _UCI,
        is_here=uci.wines_are_official,
    ),
    Official(
        "wine_quality", uci.wine_quality, ("uci_wine_quality",), ("winequality-red.csv",), _UCI,
        is_here=uci.wines_are_official,
    ),
)  # fmt: skip

OFFICIAL: Mapping[str, Official] = {official.name: official for official in _ALL}

__all__ = ["OFFICIAL", "Official"]
