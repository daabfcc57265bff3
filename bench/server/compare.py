#!/usr/bin/env python3
"""Our translation server beside LibreTranslate 1.9.6, with one model, under the load of wrk on this machine, in turns.

    bench/server/compare.sh --model DIR --source FILE --libretranslate-python PYTHON [--programs [NAME=]DIR ...]

Both sides have the same model in int8, the same beam and the same number of threads, and no cache of answers. A client
sends one line of FILE a request, the next when the answer is there; then pages of HTML. LibreTranslate runs in both
layouts of its threads (one translator of two, two of one); the better one of each row counts. Its sentence splitter is
left out. Prints Markdown tables; a row with errors says so and is not measured.
"""
import argparse
import contextlib
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pages
import servers

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from measuring import processor  # noqa: E402
COMPARED_LINES = 200


def arguments_of(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--source", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--libretranslate-python", help="has libretranslate==1.9.6; without it ours alone")
    parser.add_argument("--programs", action="append", help="folder of our programs, as NAME=DIR; may be given again")
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--beam-size", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--page-bytes", type=int, default=10_000)
    parser.add_argument("--page-clients", type=int, default=1)
    parser.add_argument("--json", type=Path, help="all figures")
    return parser.parse_args(argv)


def named_programs(given):
    named = []
    for one in given or ["build"]:
        name, equals, folder = one.rpartition("=")
        named.append((name if equals else "this toolkit", Path(folder).resolve()))
    return named


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip()


def load(server, bodies, clients, seconds, work):
    """One run of wrk; its figures and its own share of a processor."""
    file = work / "bodies.jsonl"
    file.write_text("\n".join(bodies) + "\n", encoding="utf-8")
    server.settle()
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["wrk", "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "120s", "-s", str(HERE / "load.lua"),
                           server.url, "--", str(file)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = re.search(r"^LOAD (\{.*\})$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        raise servers.Failure(f"wrk failed: {done.stderr.strip() or done.stdout.strip()}")
    figures = json.loads(found[1])
    figures["requests_a_second"] = figures["answers"] / figures["seconds"]
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    figures["wrk_share"] = used / (time.monotonic() - start)
    server.check_alive()
    return figures


def errors_of(figures):
    return figures["not_200"] + figures["socket_errors"] + figures["timeouts"]


def combined(rounds):
    """Medians over the rounds; the ends of the requests a second; all errors."""
    rates = [one["requests_a_second"] for one in rounds]
    return {"requests_a_second": statistics.median(rates), "least": min(rates), "most": max(rates),
            "median_ms": statistics.median(one["median_ms"] for one in rounds),
            "p99_ms": statistics.median(one["p99_ms"] for one in rounds),
            "wrk_share": max(one["wrk_share"] for one in rounds), "errors": sum(map(errors_of, rounds))}


def print_rows(title, clients, results):
    print(f"\n| {title}, clients | server | requests/s | least, most | median ms | 99 % ms | errors | wrk's processor |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for count in clients:
        for name, figures in results[count].items():
            bad = " **invalid**" if figures["errors"] else ""
            print(f"| {count} | {name} | {figures['requests_a_second']:.1f}{bad} | {figures['least']:.1f}, {figures['most']:.1f} "
                  f"| {figures['median_ms']:.1f} | {figures['p99_ms']:.1f} | {figures['errors']} | {figures['wrk_share']:.0%} |")


def print_ratios(what, results, ours, theirs):
    if not theirs:
        return
    for count, rows in results.items():
        own = rows[ours]
        answered = [rows[name] for name in theirs if rows[name]["requests_a_second"] > 0]
        if not answered:
            print(f"{what}, {count} clients: LibreTranslate answered nothing in that time")
            continue
        rate = max(row["requests_a_second"] for row in answered)
        median = min(row["median_ms"] for row in answered)
        print(f"{what}, {count} clients: {own['requests_a_second'] / rate:.1f} times the requests of the better LibreTranslate, "
              f"{own['median_ms'] / median:.2f} of its median")


def offline_texts(programs, arguments, lines, work):
    source, out = work / "offline.in", work / "offline.out"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run([str(programs / "nmt-translate"), *options_of(arguments), "-q", "-i", str(source), "-o", str(out)], check=True)
    return out.read_text(encoding="utf-8").splitlines()


def options_of(arguments):
    return ["-m", str(arguments.model.resolve()), "--precision", arguments.precision, "--beam-size", str(arguments.beam_size),
            "--threads", str(arguments.threads)]


def compare(arguments, work):
    programs = named_programs(arguments.programs)
    lines = [line for line in arguments.source.read_text(encoding="utf-8").splitlines() if line.strip()]
    html = pages.make(lines, 20, arguments.page_bytes)
    with contextlib.ExitStack() as stack:
        running = {}
        for name, folder in programs:
            running[name] = stack.enter_context(servers.our_server(name, folder, options_of(arguments), work))
        ours = programs[-1][0]
        languages = servers.languages_of(running[ours])
        theirs = []
        if arguments.libretranslate_python:
            exported = work / "ctranslate2"
            subprocess.run([str(programs[-1][1] / "nmt-export"), "-m", str(arguments.model), "--to", "ctranslate2",
                            "--quantization", arguments.precision, "-o", str(exported)], check=True, stdout=sys.stderr)
            packages = work / "packages"
            servers.make_packages(packages, exported, *languages)
            for workers, threads in ((1, arguments.threads), (arguments.threads, 1)):
                name = f"LibreTranslate {workers} x {threads}"
                theirs.append(name)
                running[name] = stack.enter_context(
                    servers.libretranslate(name, arguments.libretranslate_python, packages, languages, workers, threads,
                                           arguments.beam_size, work))
        for server in running.values():
            server.source, server.target = languages
            server.translate(lines[0])

        print(f"{processor()}, {arguments.threads} threads, {arguments.precision}, beam {arguments.beam_size}, "
              f"{time.strftime('%Y-%m-%d')}; {arguments.rounds} rounds of {arguments.seconds} s in turns")
        print(f"{output_of([programs[-1][1] / 'nmt-translate', '--version']).splitlines()[0]}; "
              f"wrk {output_of(['wrk', '--version']).split()[1]}")
        if theirs:
            print(output_of([arguments.libretranslate_python, "-c",
                             "import importlib.metadata as m; "
                             "print(', '.join(n + ' ' + m.version(n) for n in ('libretranslate', 'ctranslate2')))"]))
        some = lines[:COMPARED_LINES]
        texts = {name: [server.translate(line) for line in some] for name, server in running.items()}
        texts["offline"] = offline_texts(programs[-1][1], arguments, some, work)
        for name, own in texts.items():
            if name != ours:
                same = sum(a == b for a, b in zip(texts[ours], own))
                print(f"texts equal to those of {name}: {100 * same / len(some):.1f} %")

        def measure(bodies_of, clients):
            found = {count: {name: [] for name in running} for count in clients}
            for number in range(arguments.rounds):
                for count in clients:
                    for name, server in running.items():
                        found[count][name].append(load(server, bodies_of(server), count, arguments.seconds, work))
                        print(f"round {number + 1}, {count} clients, {name}: "
                              f"{found[count][name][-1]['requests_a_second']:.1f}/s", file=sys.stderr, flush=True)
            return {count: {name: combined(rounds) for name, rounds in rows.items()} for count, rows in found.items()}

        sentences = measure(lambda server: [json.dumps(server.body(line, "text")) for line in lines], arguments.clients)
        print_rows("sentences", arguments.clients, sentences)
        for name, server in running.items():
            whole, same = pages.compare(html[0], server.translate(html[0], "html"))
            print(f"\na page by {name}: {'all elements there' if whole else 'ELEMENTS ARE MISSING'}, "
                  f"{100 * same:.0f} % of its blocks not translated", end="")
        print()
        of_pages = measure(lambda server: [json.dumps(server.body(page, "html")) for page in html], [arguments.page_clients])
        print_rows(f"pages of {arguments.page_bytes // 1000} kB", [arguments.page_clients], of_pages)
        print()
        print_ratios("sentences", sentences, ours, theirs)
        print_ratios("pages", of_pages, ours, theirs)
        if arguments.json:
            arguments.json.write_text(json.dumps({"sentences": sentences, "pages": of_pages}, indent=1))


def main():
    arguments = arguments_of(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        try:
            compare(arguments, Path(folder))
        except servers.Failure as failure:
            sys.exit(str(failure))


if __name__ == "__main__":
    main()
