# /// case
# id = "B04"
# title = "multiprocessing by spawn"
# does = "runs a pool of two spawned workers with a queue, a lock and a shared value"
# limits = { wall_s = 60 }
# endings = ["ok"]
# ///
import multiprocessing


def work(number, total):
    with total.get_lock():
        total.value += number
    return number * number


def main():
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager, context.Pool(2) as pool:
        queue = manager.Queue()
        queue.put("hello")
        assert queue.get() == "hello"
        assert pool.map(abs, range(-50, 0)) == list(range(50, 0, -1))
    total = context.Value("i", 0)
    children = [context.Process(target=work, args=(number, total)) for number in (1, 2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert total.value == 3
    print("BENIGN done")


if __name__ == "__main__":
    main()
