#!/usr/bin/env python3
"""What a process of its own costs a document: milliseconds from its start to the translated document, and its memory.

    bench/documents/process_cost.py [--program build/nmt-document] [--times 200] [FILE...]

Each FILE, and a page of one sentence, is given to nmt-document as nmt-translate and the service do; its texts come back
in capitals. The times are those of all of it: start, reading, writing. The memory is the most that it had in use up to the
moment when it waits for translations (VmHWM).
"""
import argparse
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import conditions, spread  # noqa: E402

FORMATS = [".txt", ".html", ".xhtml", ".xml", ".srt", ".vtt", ".po", ".xliff", ".docx", ".pptx", ".odt", ".odp", ".epub"]
DOCUMENT, TEXTS, TRANSLATIONS = range(3)
LIMITS = (64 << 20, 200, 10000, 256, 4 << 30, 60)  # of interfaces/documents/segments/segment.h


def numbers(*values):
    return struct.pack(f"<{len(values)}Q", *values)


def send(channel, message):
    channel.sendall(numbers(len(message)) + message)


def receive(channel):
    def read(size):
        data = bytearray()
        while len(data) < size:
            part = channel.recv(size - len(data))
            if not part:
                sys.exit("nmt-document ended")
            data += part
        return bytes(data)
    return read(*struct.unpack("<Q", read(8)))


def in_capitals(message):
    """The answer to a message of texts."""
    count, at, answer = struct.unpack_from("<Q", message, 8)[0], 16, bytearray()
    for _ in range(count):
        size = struct.unpack_from("<Q", message, at)[0]
        text = message[at + 8:at + 8 + size].decode().upper().encode()
        answer += numbers(len(text)) + text + numbers(0)
        at += 8 + size
    return numbers(TRANSLATIONS, count) + answer


def translate(program, path, data):
    """Seconds and bytes."""
    ours, its = socket.socketpair()
    start = time.monotonic()
    process = subprocess.Popen([program], stdin=its, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={})
    its.close()
    send(ours, numbers(DOCUMENT, FORMATS.index(path.suffix), *LIMITS, len(data)) + data)
    message = receive(ours)
    memory = 0
    if struct.unpack_from("<Q", message)[0] == TEXTS:
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        memory = 1024 * int(status.split("VmHWM:")[1].split()[0])
        send(ours, in_capitals(message))
        message = receive(ours)
    if struct.unpack_from("<Q", message)[0] != DOCUMENT:
        sys.exit(f"{path}: {message[16:].decode()}")
    seconds = time.monotonic() - start
    ours.close()
    process.wait()
    return seconds, memory


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(HERE.parents[1] / "build" / "nmt-document"))
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    print(conditions(1, 1))
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "one sentence.html"
        page.write_text("<p>One <b>sentence</b>.</p>")
        for path in [page, *options.files]:
            data = path.read_bytes()
            measured = [translate(options.program, path, data) for _ in range(options.times)]
            times = [1000 * seconds for seconds, _ in measured]
            memory = max(size for _, size in measured) / 1e6
            print(f"{path.name}, {len(data)} bytes: {spread(times, '{:.1f}')} ms, {memory:.1f} MB")


if __name__ == "__main__":
    main()
