"""FedAvg with Flower's simulation: the worker of `bench.throughput`.

python -m bench.others.flower_fedavg --worker JOB THREADS PROCESSES

Its own strategy, and its engine on ray with so many processes for clients, each of one core.
"""

import os
import sys

from bench.others import fedavg_job as job_of


def worker(path: str, threads: int, processes: int) -> None:
    """Run the job, and print when each round ended."""
    os.environ |= {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    import flwr
    import torch
    from flwr.app import ArrayRecord, Context, Message, MetricRecord, RecordDict
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.serverapp.strategy import FedAvg
    from flwr.simulation import run_simulation

    job = job_of.read(path)
    client, server, ends = ClientApp(), ServerApp(), [job_of.now()]
    last: list[ArrayRecord] = []

    @client.train()
    def train(message: Message, context: Context) -> Message:
        torch.set_num_threads(threads)
        own = job_of.read(path)
        module = job_of.put(job_of.network(own), message.content["arrays"].to_numpy_ndarrays())
        site = int(context.node_config["partition-id"])
        job_of.train(module, own.points[site], own.labels[site], own)
        arrays = [held.detach().numpy() for held in module.parameters()]
        metrics = MetricRecord({"num-examples": len(own.labels[site])})
        content = RecordDict({"arrays": ArrayRecord(arrays), "metrics": metrics})
        return Message(content=content, reply_to=message)

    @server.main()
    def main(grid: Grid, context: Context) -> None:
        strategy = FedAvg(fraction_train=job.per_round / len(job.labels), fraction_evaluate=0.0)

        def over(number: int, arrays: ArrayRecord) -> None:
            ends.append(job_of.now())
            last[:] = [arrays]

        first = ArrayRecord(job.start)
        strategy.start(grid, first, num_rounds=job.rounds, evaluate_fn=over)

    resources = {"num_cpus": 1, "num_gpus": 0.0}
    init = {"num_cpus": processes, "include_dashboard": False, "log_to_driver": False}
    settings = {"client_resources": resources, "init_args": init}
    run_simulation(server, client, len(job.labels), backend_config=settings)
    module = job_of.put(job_of.network(job), last[0].to_numpy_ndarrays())
    job_of.answer(ends[1:], module, job, version=flwr.__version__)


if __name__ == "__main__":
    _, flag, path, threads, processes = sys.argv
    worker(path, int(threads), int(processes))
