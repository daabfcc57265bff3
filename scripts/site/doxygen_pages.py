"""Pages of the installed headers: one a header, in the order of its declarations, from the XML of Doxygen."""

import collections
import pathlib
import re
import subprocess
import textwrap
import xml.etree.ElementTree as xml

OPTIONS = """
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
RECURSIVE = YES
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = "NMT_API_BEGIN=namespace nmt {" "NMT_API_END=}" NMT_EXPORT= NMT_C_EXPORT= __cplusplus
"""
NOT_FOR_USERS = {"export.h"}  # macros that the other headers are written with


def text_of(element):
    """The Markdown of a description."""
    def escaped(text):
        return re.sub(r"([*\\])", r"\\\1", text or "").replace("<", "&lt;").replace("\n", " ")

    if element is None:
        return ""
    result = escaped(element.text)
    for child in element:
        inside = text_of(child)
        if child.tag == "para":
            result += inside.strip() + "\n\n"
        elif child.tag == "computeroutput":
            result += "`" + "".join(child.itertext()) + "`"
        elif child.tag == "listitem":
            result += "- " + inside.strip() + "\n"
        else:
            result += inside
        result += escaped(child.tail)
    return result


class Declaration:
    """A member, a class or a macro of a header."""

    def __init__(self, element):
        location = element.find("location")
        self.element = element
        self.file = location.get("declfile") or location.get("file")
        self.line = int(location.get("declline") or location.get("line"))
        self.kind = element.get("kind")
        name = element.findtext("name") or element.findtext("compoundname")
        self.name = name.removeprefix("nmt::")
        self.text = "".join(text_of(element.find(part)) for part in ("briefdescription", "detaileddescription")).strip()

    @property
    def type(self):
        return tidy("".join(self.element.find("type").itertext()))

    @property
    def initializer(self):
        value = self.element.find("initializer")
        return "" if value is None else tidy("".join(value.itertext()))


def tidy(code):
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"<\s+", "<", re.sub(r"\s+>", ">", code))
    code = re.sub(r"\s+([&*])", r"\1", code)
    code = re.sub(r"([&*])(?=\w)", r"\1 ", code)
    return re.sub(r"(\w)=(?=[^=])", r"\1 = ", code)


def signature(member):
    arguments = tidy(member.element.findtext("argsstring") or "")
    prefix = "static " if member.element.get("static") == "yes" else ""
    prefix += "explicit " if member.element.get("explicit") == "yes" else ""
    code = f"{prefix}{member.type} {member.name}".replace("  ", " ").strip() + arguments
    if member.kind == "typedef":
        code = f"typedef {member.type} {member.name}{arguments}"
        if member.type.startswith("std::"):
            code = f"using {member.name} = {member.type}"
    if member.kind == "typedef" and "(*" in member.type:
        code = f"typedef {member.type}{member.name}{arguments}"
    if len(code) > 88 and "(" in arguments:
        head, _, rest = code.partition("(")
        if member.kind == "typedef":
            first, _, rest = rest.partition("(")
            head, rest = f"{head}({first}", rest
        inner, _, tail = rest.rpartition(")")
        code = head + "(\n" + "\n".join(
            textwrap.wrap(inner, 84, initial_indent="    ", subsequent_indent="    ", break_long_words=False)) + ")" + tail
    return code + ";"


class Headers:
    def __init__(self, include, work):
        """Runs Doxygen over the folder `include`; its XML goes to the folder `work`."""
        work.mkdir(parents=True, exist_ok=True)
        (work / "Doxyfile").write_text(f'{OPTIONS}INPUT = "{include}"\nOUTPUT_DIRECTORY = "{work}"\n'
                                       f'STRIP_FROM_PATH = "{include}"\n', encoding="utf-8")
        ran = subprocess.run(["doxygen", str(work / "Doxyfile")], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.problems = [line for line in ran.stderr.splitlines() if "warning:" in line or "error:" in line]
        if ran.returncode != 0 and not self.problems:
            self.problems.append(f"doxygen: exit code {ran.returncode}")
        self.include = include
        self.members = collections.defaultdict(list)  # of a class; of a header those of no class
        self.classes = collections.defaultdict(list)  # of a header
        for path in sorted((work / "xml").glob("*.xml")):
            compound = xml.parse(path).getroot().find("compounddef")
            if compound is None or compound.get("kind") not in ("class", "struct", "file", "namespace"):
                continue
            owner = None
            if compound.get("kind") in ("class", "struct"):
                owner = Declaration(compound)
                if owner.name in ("State",) or owner.name.endswith("::State"):
                    continue
                self.classes[self.header(owner)].append(owner)
            for element in compound.iter("memberdef"):
                member = Declaration(element)
                # A constructor says what copying and moving are; operator= is the same.
                is_own = not member.name.startswith("~") and member.name != "operator=" and member.kind != "friend"
                if element.get("prot") == "public" and is_own:
                    self.members[owner.name if owner else self.header(member)].append(member)
        for members in self.members.values():
            unique = {(member.line, member.name, member.element.get("id").rsplit("_", 1)[-1]): member for member in members}
            enums = {member.name for member in members if member.kind == "enum"}  # `typedef enum X {} X;`
            members[:] = sorted((member for member in unique.values() if member.kind != "typedef" or member.name not in enums),
                                key=lambda member: member.line)
        self.share_comments()

    def header(self, declaration):
        return declaration.file.removeprefix(f"{self.include}/")

    def share_comments(self):
        """A comment behind `double a = 0, b = 0;` is of both."""
        for members in self.members.values():
            by_line = {(member.file, member.line): member.text for member in members if member.text}
            for member in members:
                member.text = member.text or by_line.get((member.file, member.line), "")

    def undocumented(self):
        """FILE:LINE: NAME has no comment."""
        found = []
        for header in sorted({*self.classes, *(name for name in self.members if name.endswith(".h"))}):
            if pathlib.Path(header).name in NOT_FOR_USERS:
                continue
            for owner in self.classes[header]:
                found += [(header, owner.line, owner.name)] if not owner.text else []
                found += [(header, m.line, f"{owner.name}::{m.name}") for m in self.members[owner.name] if not m.text]
            found += [(header, m.line, m.name) for m in self.members[header] if not m.text and not is_guard(m)]
        return [f"{header}:{line}: {name} has no comment" for header, line, name in found]

    def pages(self):
        """{name of the page: Markdown}."""
        headers = sorted({*self.classes, *(name for name in self.members if name.endswith(".h"))})
        return {header.replace("nmt/", "cpp/").removesuffix(".h") + ".md" if "/" in header else "c/index.md":
                self.page(header) for header in headers if pathlib.Path(header).name not in NOT_FOR_USERS}

    def page(self, header):
        text = (self.include / header).read_text(encoding="utf-8")
        lines = [f"# {header}", "", f"`#include <{header}>`", ""]
        about = re.match(r"/\*\* @file\n(.*?)\*/", text, re.DOTALL)
        if about:
            lines += [re.sub(r"(?m)^ ?\* ?", "", about.group(1)).rstrip(), ""]
        sections = [(text[:match.start()].count("\n") + 1, match.group(1))
                    for match in re.finditer(r"(?m)^/\* -{4} (.*?) -{4,}", text)]
        parts = [(owner.line, self.class_lines(owner)) for owner in self.classes[header]]
        parts += [(member.line, self.member_lines(member, "##" if not sections else "###"))
                  for member in self.members[header] if not is_guard(member)]
        parts += [(line, [f"## {title}", ""]) for line, title in sections]
        for _, part in sorted(parts, key=lambda part: part[0]):
            lines += part
        return "\n".join(lines).rstrip() + "\n"

    def class_lines(self, owner):
        lines = [f"## {owner.name}", "", owner.text, ""]
        fields = [member for member in self.members[owner.name] if member.kind == "variable"]
        if fields:
            lines += ["| field | type | |", "| --- | --- | --- |"]
            for field in fields:
                value = f" {field.initializer}" if field.initializer not in ("", "= {}") else ""
                kind = f"{field.type}{value}".replace("|", "\\|")
                lines.append(f"| `{field.name}` | `{kind}` | {' '.join(field.text.split())} |".replace(" |  |", " | |"))
            lines.append("")
        for member in self.members[owner.name]:
            if member.kind != "variable":
                lines += self.member_lines(member, "###", owner.name)
        return lines

    def member_lines(self, member, level, owner=""):
        title = f"{owner}::{member.name}" if owner else member.name
        lines = [f"{level} {title}", ""]
        if member.kind == "enum":
            values = member.element.findall("enumvalue")
            scope = "class " if member.element.get("strong") == "yes" else ""
            inner = ",\n".join(f"    {v.findtext('name')} {(v.findtext('initializer') or '').strip()}".rstrip() for v in values)
            lines += ["``` cpp", f"enum {scope}{member.name} {{\n{inner}\n}};", "```", "", member.text, ""]
            told = [(v.findtext("name"), text_of(v.find("detaileddescription")).strip()
                     or text_of(v.find("briefdescription")).strip()) for v in values]
            lines += [f"- `{name}`: {text}" for name, text in told if text] + [""]
        elif member.kind == "define":
            value = " ".join((member.element.findtext("initializer") or "").split())
            lines += ["``` cpp", f"#define {member.name} {value}", "```", "", member.text, ""]
        else:
            lines += ["``` cpp", signature(member), "```", "", member.text, ""]
        return lines


def is_guard(member):
    return member.kind == "define" and (member.name.endswith("_H_") or member.name == "NMT_C_EXPORT")
