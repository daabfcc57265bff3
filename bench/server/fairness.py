#!/usr/bin/env python3
"""How long short questions wait while our server translates long ones: a client asks sentences, alone, then beside documents.

    bench/server/fairness.py --model DIR --source FILE [--programs build] [--lines 1000] [--questions 200] [--threads 2]

One client asks one sentence after the other. The other sends a text of --lines lines, again and again. Of the sentences the
median and 99 % of the times from question to answer are printed; of the text also the time to its first line (stream) and to
its end, beside questions and alone.
"""
import argparse
import http.client
import json
import sys
import tempfile
import threading
import time
from pathlib import Path

import servers

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import conditions, median, spread  # noqa: E402


def ask(server, fields):
    """Yields the seconds to each line of the answer."""
    connection = http.client.HTTPConnection(servers.HOST, server.port, timeout=servers.ANSWER_LIMIT)
    start = time.monotonic()
    connection.request("POST", "/translate", json.dumps(fields), {"Content-Type": "application/json"})
    reply = connection.getresponse()
    if reply.status != 200:
        sys.exit(f"status {reply.status}: {reply.read()[:200]}")
    for _ in reply:
        yield time.monotonic() - start
    connection.close()


def document(server, lines):
    """(seconds to the first line, to the last)."""
    times = list(ask(server, server.body("\n".join(lines), "text") | {"stream": True}))
    return times[0], times[-1]


def sentences(server, lines, count):
    found = []
    for i in range(count):
        found.append(list(ask(server, server.body(lines[i % len(lines)], "text")))[-1])
        time.sleep(0.02)
    return sorted(found)


def shown(times):
    return f"median {1e3 * median(times):.1f} ms, 99 % {1e3 * times[int(0.99 * len(times))]:.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--programs", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    lines = arguments.source.read_text(encoding="utf-8").splitlines()
    options = ["-m", str(arguments.model.resolve()), "--precision", "int8", "--beam-size", "4", "--threads",
               str(arguments.threads), "--queue", str(max(1024, arguments.lines)), "--time-limit", "300"]
    with tempfile.TemporaryDirectory() as folder, servers.our_server("ours", arguments.programs.resolve(), options,
                                                                     Path(folder)) as server:
        server.source, server.target = servers.languages_of(server)
        long_text = (lines * (arguments.lines // len(lines) + 1))[:arguments.lines]
        document(server, long_text[:64])
        alone, alone_first = sentences(server, lines, arguments.questions), document(server, long_text)
        beside, stop = [], threading.Event()

        def send_documents():
            while not stop.is_set():
                beside.append(document(server, long_text))

        sender = threading.Thread(target=send_documents)
        sender.start()
        time.sleep(1)
        questions = sentences(server, lines, arguments.questions)
        stop.set()
        sender.join()
    print(f"{conditions(arguments.threads, 1)}; int8, beam 4; texts of {arguments.lines} lines\n")
    print(f"sentences alone: {shown(alone)}; beside the texts: {shown(questions)}")
    print(f"the text alone: first line {alone_first[0]:.2f} s, whole {alone_first[1]:.2f} s; beside the sentences: first line "
          f"{spread([first for first, _ in beside], '{:.2f}')} s, whole {spread([last for _, last in beside], '{:.2f}')} s")


if __name__ == "__main__":
    main()
