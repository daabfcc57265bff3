"""Writes the bill of materials of a release as SPDX 2.3 (JSON): what is in the packages, from where, under which licence.

    sbom.py --version VERSION --folder UNPACKED --notice NOTICE [--artifact FILE ...] [--linked NAME=VERSION ...] > nmt.spdx.json

UNPACKED is the tree of the tar.gz, whose libraries.tsv names the Debian packages that its libraries come from; NOTICE says the
licences. --linked: what is linked into the Python package and is no package of Debian. The time is SOURCE_DATE_EPOCH: the same
packages give the same bytes.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import uuid

# What stands in the programs themselves: its name in NOTICE, and the Debian package that its version is asked of.
LINKED_IN = (("nlohmann-json", "nlohmann-json3-dev"), ("CLI11", "libcli11-dev"), ("Boost", "libboost-dev"),
             ("fmt", "libfmt-dev"), ("spdlog", "libspdlog-dev"))
# Debian's source of a library: its name in NOTICE.
NAMES = {"libicu": "ICU", "libspdlog": "spdlog", "libfmt": "fmt", "libyaml-cpp": "yaml-cpp", "zlib1g": "zlib", "libzstd": "zstd",
         "libexpat": "expat", "libzip": "libzip", "libssl": "OpenSSL", "libcld2": "CLD2", "libmecab": "MeCab", "libgomp": "libgomp"}
SPDX_WORD = re.compile(r"^[A-Za-z0-9.+-]+-[A-Za-z0-9.+-]+$|^MIT$|^Zlib$")


def licences(notice):
    """Name to SPDX expression, where NOTICE says one that SPDX knows."""
    found = {}
    for line in notice.splitlines():
        if match := re.match(r"^ {2,}(\S.*?) {2,}(\S+)", line):
            name = match.group(1).split(" ")[0]
            if SPDX_WORD.match(match.group(2).rstrip(",")):
                found[name] = match.group(2).rstrip(",")
    found["libgomp"] = "GPL-3.0-only WITH GCC-exception-3.1"
    return found


def debian_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f=${Version}", package], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True)
    return done.stdout if done.returncode == 0 and done.stdout else None


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, purl=None, comment=None):
    result = {"SPDXID": identifier(name), "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION",
              "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence or "NOASSERTION",
              "copyrightText": "NOASSERTION"}
    if purl:
        result["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                   "referenceLocator": purl}]
    if comment:
        result["comment"] = comment
    return result


def torch_version(folder):
    found = re.search(r"^LibTorch (\S+)", subprocess.run([folder / "bin" / "nmt-train", "--version"], text=True, check=True,
                                                         stdout=subprocess.PIPE).stdout, re.M)
    return found.group(1)


def sentencepiece_version(folder):
    text = subprocess.run([folder / "bin" / "nmt-prepro", "--version"], text=True, check=True, stdout=subprocess.PIPE).stdout
    return re.search(r"^SentencePiece (\S+)", text, re.M).group(1)


def purl_of_debian(name, version):
    return f"pkg:deb/debian/{name}@{version.replace('+', '%2B').replace(':', '%3A')}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    parser.add_argument("--notice", required=True, type=pathlib.Path)
    parser.add_argument("--artifact", action="append", default=[], type=pathlib.Path)
    parser.add_argument("--linked", action="append", default=[], metavar="NAME=VERSION")
    options = parser.parse_args()
    known = licences(options.notice.read_text())
    main_package = package("nmt", options.version, "Apache-2.0")
    packages, relationships = [main_package], []

    def add(entry, relation):
        if any(entry["SPDXID"] == other["SPDXID"] for other in packages):
            return
        packages.append(entry)
        relationships.append({"spdxElementId": main_package["SPDXID"], "relationshipType": relation,
                              "relatedSpdxElement": entry["SPDXID"]})

    torch = torch_version(options.folder)
    add(package("LibTorch", torch, known.get("LibTorch"), f"pkg:pypi/torch@{torch.split('+')[0]}",
                "CPU build; LICENSE.LibTorch names what it carries"), "CONTAINS")
    add(package("libgomp of LibTorch", "NOASSERTION", known["libgomp"], None, "the copy that LibTorch's build brings along"),
        "CONTAINS")
    pieces = sentencepiece_version(options.folder)
    add(package("SentencePiece", pieces, known.get("SentencePiece"), f"pkg:pypi/sentencepiece@{pieces}",
                "built from its source, with parts of Protocol Buffers, Abseil, Darts-clone and esaxx"), "STATIC_LINK")
    for name, debian in LINKED_IN:
        if version := debian_version(debian):
            add(package(name, version, known.get(name), purl_of_debian(debian, version), "headers, compiled in"),
                "STATIC_LINK")
    for linked in options.linked:
        name, _, version = linked.partition("=")
        add(package(name, version, known.get(name), f"pkg:pypi/{name}@{version}", "in the Python package"), "STATIC_LINK")
    for row in (options.folder / "share" / "doc" / "nmt" / "libraries.tsv").read_text().splitlines()[1:]:
        library, debian, version = row.split("\t")
        own = next((known.get(name) for prefix, name in NAMES.items() if debian.startswith(prefix)), None)
        add(package(debian, version, own, purl_of_debian(debian, version), "in the tar.gz; a dependency of the .deb"),
            "DYNAMIC_LINK")
    for artifact in options.artifact:
        digest = hashlib.sha256(artifact.read_bytes()).hexdigest()
        entry = package(artifact.name, options.version, "Apache-2.0")
        entry["packageFileName"] = artifact.name
        entry["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
        packages.append(entry)
        relationships.append({"spdxElementId": entry["SPDXID"], "relationshipType": "GENERATED_FROM",
                              "relatedSpdxElement": main_package["SPDXID"]})
    relationships.insert(0, {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                             "relatedSpdxElement": main_package["SPDXID"]})
    time = datetime.datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), datetime.timezone.utc)
    name = uuid.uuid5(uuid.NAMESPACE_OID, json.dumps([packages, relationships], sort_keys=True))
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
                "name": f"nmt-{options.version}", "documentNamespace": f"urn:uuid:{name}",
                "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: nmt-sbom.py"]},
                "packages": packages, "relationships": relationships}
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


if __name__ == "__main__":
    main()
