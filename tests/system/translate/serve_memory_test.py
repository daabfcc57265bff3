"""The memory of nmt-translate --serve: it stays as it is over 200,000 requests of one word to many.

    serve_memory_test.py --programs BUILD_FOLDER --work FOLDER [unittest arguments]

NMT_SERVE_REQUESTS changes how many.
"""

import http.client
import itertools
import os
import random
import statistics
import sys
import threading
import time

from serve_support import Server, json_body
from translate_memory_test import GROWTH, megabytes
from translate_support import PATIENCE, PROGRAMS, Case, main

REQUESTS = int(os.environ.get("NMT_SERVE_REQUESTS", 200_000))
CLIENTS = 64
MOST_WORDS = 64


class ManyRequests(Case):
    def test_memory_does_not_grow(self):
        words = sorted({word for line in PROGRAMS.sources() for word in line.split()})
        count = itertools.count(1)
        sizes, failures = [], []  # resident memory after each thousandth of the requests; answers that are none
        begin = time.monotonic()
        with Server("--beam-size", 1, "--max-length-ratio", 0, "--max-length-offset", 8) as server:

            def client(number):
                choose = random.Random(number)
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
                while (request := next(count)) <= REQUESTS:
                    # Half of them a word, the others up to MOST_WORDS, every length as often.
                    length = 1 if choose.random() < 0.5 else choose.randint(2, MOST_WORDS)
                    text = " ".join(choose.choices(words, k=length))
                    connection.request("POST", "/translate", json_body({"q": text}), {"Content-Type": "application/json"})
                    reply = connection.getresponse()
                    body = reply.read()
                    if reply.status != 200:
                        failures.append(body)
                    if request % (REQUESTS // 1000) == 0:
                        sizes.append(megabytes(server.process.pid, "VmRSS"))
                connection.close()

            def run_client(number):
                try:
                    client(number)
                except (OSError, http.client.HTTPException) as error:
                    failures.append(f"client {number}: {error!r}")

            clients = [threading.Thread(target=run_client, args=(number,)) for number in range(CLIENTS)]
            for thread in clients:
                thread.start()
            for thread in clients:
                thread.join()
            self.assertEqual(server.stop()[0], 143)
        self.assertEqual(failures, [])
        self.assertEqual(len(sizes), 1000)
        # At any one moment it depends on the sentences that are being translated: a hundred moments tell the level.
        half, end = statistics.median(sizes[400:500]), statistics.median(sizes[900:])
        print(f"\n{REQUESTS} requests in {time.monotonic() - begin:.0f} s; resident MB after each tenth: "
              f"{', '.join(f'{size:.1f}' for size in sizes[99::100])}; in the middle {half:.1f}, at the end {end:.1f}",
              file=sys.stderr)
        self.assertLess(end / half, 1 + GROWTH)


if __name__ == "__main__":
    main(__doc__)
