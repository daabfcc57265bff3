"""Pages of the Python package, from its text alone: nothing is imported, so it need not be built."""

import ast
import re
import textwrap


def markdown_of(docstring):
    """reStructuredText as the package's docstrings have it, as Markdown."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", docstring)
    text = re.sub(r"``([^`]*)``", r"`\1`", text)
    text = "".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(re.split(r"(`[^`]*`)", text)))
    lines, result, in_code = text.split("\n"), [], False
    for line in lines:
        parameter = re.match(r":param (\*{0,2}\w+): (.*)", line)
        if in_code and line.strip() and not line.startswith(" "):
            while not result[-1].strip():
                result.pop()
            result += ["```", ""]
            in_code = False
        if parameter:
            result += ([""] if result and not result[-1].startswith(("-", "    ")) else [])
            result.append(f"- `{parameter.group(1)}`: {parameter.group(2)}")
        elif line.rstrip().endswith("::") and not in_code:
            before = line.rstrip()[:-2].strip()
            result += [before + ":", ""] if before else []
            result.append("``` python")
            in_code = True
        elif in_code:
            if line.strip() or result[-1] != "``` python":
                result.append(line[4:])
        else:
            if line and not line.startswith(" ") and result and result[-1].startswith(("- ", "    ")):
                result.append("")
            result.append(line)
    if in_code:
        while not result[-1].strip():
            result.pop()
        result.append("```")
    return "\n".join(result)


class Module:
    def __init__(self, folder, name):
        self.path = folder / f"{name}.py"
        self.text = self.path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.lines = self.text.split("\n")
        self.own = {node.name: node for node in self.tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        self.public = next((ast.literal_eval(node.value) for node in self.tree.body if isinstance(node, ast.Assign)
                            and getattr(node.targets[0], "id", "") == "__all__"), [])


class Package:
    """The package `nmt` in a folder: its public names are those of `__all__`."""

    def __init__(self, folder):
        self.folder = folder
        self.problems = []
        self.modules = {path.stem: Module(folder, path.stem) for path in folder.glob("*.py")}

    def pages(self):
        """{name of the page: Markdown}; fills `problems` with FILE:LINE: NAME has no docstring."""
        pages = {}
        start = self.modules["__init__"]
        names, modules = [], []
        for name in start.public:
            if name in self.modules:
                modules.append(name)
            elif not name.startswith("__"):
                names.append(name)
        pages["python/index.md"] = self.page("nmt", start, names)
        for name in modules:
            pages[f"python/{name}.md"] = self.page(f"nmt.{name}", self.modules[name], self.modules[name].public)
        return pages

    def find(self, module, name):
        places = [module, *self.modules.values()]
        return next(((place, place.own[name]) for place in places if name in place.own), (None, None))

    def page(self, title, module, names):
        lines = [f"# {title}", "", markdown_of(ast.get_docstring(module.tree) or ""), ""]
        for name in names:
            place, node = self.find(module, name)
            if node is None:
                continue
            lines += self.class_lines(place, node) if isinstance(node, ast.ClassDef) else self.function_lines(place, node, "##")
        return "\n".join(lines).rstrip() + "\n"

    def docstring(self, module, node, title):
        text = ast.get_docstring(node)
        if not text:
            self.problems.append(f"{module.path.name}:{node.lineno}: {title} has no docstring")
        return markdown_of(text or "")

    def inherited(self, module, owner, name):
        """The docstring of a method in a class that `owner` is derived from."""
        for base in owner.bases:
            place, node = self.find(module, getattr(base, "id", ""))
            for member in node.body if node else []:
                if getattr(member, "name", "") == name and ast.get_docstring(member):
                    return ast.get_docstring(member)
            if node and self.inherited(place, node, name):
                return self.inherited(place, node, name)
        return None

    def class_lines(self, module, node):
        lines = [f"## {node.name}", "", self.docstring(module, node, node.name), ""]
        if node.bases:
            lines[1:1] = ["", f"`class {node.name}({', '.join(ast.unparse(base) for base in node.bases)})`"]
        fields = [member for member in node.body if isinstance(member, ast.AnnAssign) and not member.target.id.startswith("_")]
        if fields:
            lines += ["| field | type | |", "| --- | --- | --- |"]
            for field in fields:
                comment = module.lines[field.end_lineno - 1].partition("#: ")[2]
                default = ast.unparse(field.value) if isinstance(field.value, (ast.Constant, ast.Tuple)) else ""
                kind = ast.unparse(field.annotation) + (f" = {default}" if default else "")
                lines.append(f"| `{field.target.id}` | `{kind}` | {markdown_of(comment)} |".replace(" |  |", " | |"))
            lines.append("")
        seen = set()
        for member in node.body:
            if not isinstance(member, ast.FunctionDef) or is_overload(member):
                continue
            if member.name in seen or (member.name.startswith("_") and member.name != "__init__"):
                continue
            seen.add(member.name)
            overloads = [other for other in node.body if getattr(other, "name", "") == member.name and is_overload(other)]
            if member.name == "__init__":
                own = ast.get_docstring(member)
                lines += ["``` python", signature(member, node.name), "```", ""] + ([markdown_of(own), ""] if own else [])
            else:
                lines += self.function_lines(module, member, "###", node, overloads)
        return lines

    def function_lines(self, module, node, level, owner=None, overloads=()):
        title = f"{owner.name}.{node.name}" if owner else node.name
        is_property = any(getattr(decorator, "id", "") == "property" for decorator in node.decorator_list)
        code = [signature(each) for each in overloads] or [signature(node)]
        if is_property:
            code = [f"{node.name}: {ast.unparse(node.returns)}"]
        text = None if ast.get_docstring(node) or not owner else self.inherited(module, owner, node.name)
        told = [ast.get_docstring(each) for each in overloads if ast.get_docstring(each)]
        text = text or (told[0] if told else None)
        text = markdown_of(text) if text else self.docstring(module, node, title)
        return [f"{level} {title}", "", "``` python", *code, "```", "", text, ""]


def is_overload(node):
    return any(getattr(decorator, "id", "") == "overload" for decorator in getattr(node, "decorator_list", []))


def signature(node, name=""):
    arguments = re.sub(r"^(self|cls)(, )?", "", ast.unparse(node.args))
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and not name else ""
    code = f"{name or node.name}({arguments}){returns}"
    if len(code) > 88:
        code = f"{name or node.name}(\n" + "\n".join(textwrap.wrap(
            arguments, 84, initial_indent="    ", subsequent_indent="    ", break_long_words=False)) + f"){returns}"
    return code
