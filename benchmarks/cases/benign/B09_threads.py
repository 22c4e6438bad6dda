# /// case
# id = "B09"
# title = "64 threads"
# does = "runs 64 threads of the default stack size at once and lets them meet at a barrier"
# limits = { wall_s = 60, processes = 128 }
# endings = ["ok"]
# ///
import threading

meeting = threading.Barrier(65)
passed = []


def work(number):
    meeting.wait(30)
    passed.append(number)


threads = [threading.Thread(target=work, args=(number,)) for number in range(64)]
for thread in threads:
    thread.start()
meeting.wait(30)
for thread in threads:
    thread.join()
assert sorted(passed) == list(range(64))
print("BENIGN done")
