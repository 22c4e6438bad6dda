"""Ray Tune and Optuna run a program over networks and seeds, as their users would: the program in a function.

Words: the way (tune, tune-warm, optuna), how many at once, and a JSON list of command lines (script first).
Prints one JSON object: seconds until the first trial began, from then to the end, and how many ended.
`tune` starts a process a trial, `tune-warm` reuses them (reuse_actors). Optuna has a process a worker, which
share a journal file.
"""

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import time


def train(words):
    sys.argv = list(words)
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(words[0], run_name="__main__")


def tune_with(lines, workers, warm):
    began = time.time()
    import ray
    from ray import tune

    class Warm(tune.Trainable):
        """A reused actor: the imports of the first training stay."""

        def setup(self, config):
            self.words = config["words"]

        def reset_config(self, config):
            self.words = config["words"]
            return True

        def step(self):
            first = time.time()
            train(self.words)
            return {"began": first, "done": True}

    def cold(config):
        first = time.time()
        train(config["words"])
        tune.report({"began": first})

    ray.init(address="local", num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    with tempfile.TemporaryDirectory() as storage:
        results = tune.Tuner(
            tune.with_resources(Warm if warm else cold, {"cpu": 1}),
            param_space={"words": tune.grid_search(lines)},
            tune_config=tune.TuneConfig(max_concurrent_trials=workers, reuse_actors=warm),
            run_config=tune.RunConfig(
                storage_path=storage, verbose=0, checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False)
            ),
        ).fit()
        ended = time.time()
        good = [one for one in results if one.error is None]
        first = min((one.metrics["began"] for one in good), default=ended)
    ray.shutdown()
    return {"start_s": first - began, "seconds": ended - first, "ended": len(good)}


def optuna_worker(file, name, lines, most):
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(study_name=name, storage=JournalStorage(JournalFileBackend(file)))

    def objective(trial):
        train(lines[trial.number % len(lines)])
        return 0.0

    study.optimize(objective, n_trials=most)


def optuna_with(lines, workers):
    began = time.time()
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "study.log")
        storage = JournalStorage(JournalFileBackend(file))
        study = optuna.create_study(study_name="speed", storage=storage)
        first = time.time()
        share = [len(lines) // workers + (number < len(lines) % workers) for number in range(workers)]
        command = [sys.executable, __file__, "optuna-worker", file]
        started = [
            subprocess.Popen([*command, str(count), json.dumps(lines)], stdout=subprocess.DEVNULL)
            for count in share
            if count
        ]
        failed = sum(process.wait() != 0 for process in started)
        ended = time.time()
        count = 0 if failed else len(study.get_trials(states=[optuna.trial.TrialState.COMPLETE]))
    return {"start_s": first - began, "seconds": ended - first, "ended": count}


def main():
    way, second = sys.argv[1:3]
    # Tune runs each trial in a folder of its own.
    lines = [[os.path.abspath(words[0]), *words[1:]] for words in json.loads(sys.argv[-1])]
    if way == "optuna-worker":
        optuna_worker(second, "speed", lines, int(sys.argv[3]))
        return
    try:
        found = optuna_with(lines, int(second)) if way == "optuna" else tune_with(lines, int(second), "warm" in way)
    except ImportError as error:
        found = {"missing": error.name}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
