"""Ray Tune runs a program over seeds, as its user would have it: one trial a core, the program in a function.

Words: the number of trials, of trials at once, and the folders of the programs. Prints one JSON object:
seconds to start the cluster, and for each folder seconds until its first trial began and from then to the end.
"""

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
import time


def train(config):
    began = time.time()

    from ray import tune

    import random

    import numpy

    random.seed(config["seed"])
    numpy.random.seed(config["seed"])
    os.chdir(config["folder"])
    sys.path.insert(0, config["folder"])
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path("train.py", run_name="__main__")
    tune.report({"began": began})


def main():
    began = time.perf_counter()
    try:
        import ray
        from ray import tune
    except ImportError:
        print(json.dumps({"missing": "ray"}))
        return
    trials, workers, folders = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
    found = {"version": ray.__version__, "start_s": time.perf_counter() - began}
    found |= {"first_s": {}, "seconds": {}, "ended": {}}
    for folder in folders:
        with tempfile.TemporaryDirectory() as storage:
            began = time.time()
            results = tune.Tuner(
                tune.with_resources(train, {"cpu": 1}),
                param_space={"seed": tune.grid_search(list(range(trials))), "folder": folder},
                tune_config=tune.TuneConfig(max_concurrent_trials=workers),
                run_config=tune.RunConfig(storage_path=storage, verbose=0),
            ).fit()
            ended = time.time()
            first = min((one.metrics["began"] for one in results if one.error is None), default=began)
            found["first_s"][folder] = first - began
            found["seconds"][folder] = ended - first
            found["ended"][folder] = sum(result.error is None for result in results)
    ray.shutdown()
    print(json.dumps(found))


main()
