"""FedAvg with Apple's pfl: the worker of `bench.throughput`.

python -m bench.others.pfl_fedavg --worker JOB THREADS

For several processes it is started by torchrun, as its documentation says.
"""

import sys

from bench.others import fedavg_job as job_of


def worker(path: str, threads: int) -> None:
    """Run the job, and print when each round ended."""
    from importlib.metadata import version

    import numpy as np
    import torch
    from pfl.aggregate.simulate import SimulatedBackend
    from pfl.algorithm.base import NNAlgorithmParams
    from pfl.algorithm.federated_averaging import FederatedAveraging
    from pfl.callback.base import TrainingProcessCallback
    from pfl.data.dataset import Dataset
    from pfl.data.federated_dataset import FederatedDataset
    from pfl.data.sampling import get_user_sampler
    from pfl.hyperparam import NNTrainHyperParams
    from pfl.internal.ops import pytorch_ops
    from pfl.metrics import Metrics
    from pfl.model.pytorch import PyTorchModel
    from torch.nn.functional import cross_entropy

    torch.set_num_threads(threads)
    job, ends = job_of.read(path), []

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = job_of.network(job)

        def forward(self, points: torch.Tensor) -> torch.Tensor:
            return self.inner(points)

        def loss(self, points: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
            return cross_entropy(self.inner(points), labels)

        def metrics(self, points: torch.Tensor, labels: torch.Tensor) -> dict[str, float]:
            return {}

    class Watch(TrainingProcessCallback):
        def after_central_iteration(self, metrics, model, *, central_iteration):
            ends.append(job_of.now())
            return False, Metrics()

    def of_user(number: int) -> Dataset:
        return Dataset(raw_data=[job.points[number], job.labels[number]], user_id=str(number))

    np.random.seed(0)  # noqa: NPY002  pfl samples with it
    users = list(range(len(job.labels)))
    data = FederatedDataset(of_user, get_user_sampler("random", users))
    module = Module()
    central = torch.optim.SGD(module.parameters(), 1.0)
    model = PyTorchModel(module, torch.optim.SGD, central)
    FederatedAveraging().run(
        NNAlgorithmParams(
            central_num_iterations=job.rounds,
            evaluation_frequency=job.rounds + 1,
            train_cohort_size=job.per_round,
            val_cohort_size=0,
        ),
        SimulatedBackend(training_data=data, val_data=data),
        model,
        NNTrainHyperParams(
            local_num_epochs=1, local_learning_rate=job.rate, local_batch_size=job.batch
        ),
        callbacks=[Watch()],
        send_metrics_to_platform=False,
    )
    if pytorch_ops.distributed.global_rank == 0:
        job_of.answer(ends, module, job, version=version("pfl"))


if __name__ == "__main__":
    _, flag, path, threads = sys.argv
    worker(path, int(threads))
