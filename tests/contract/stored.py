"""What is stored and imported: the events of the log, what earlier logs say today, and the names of the packages."""

import ast
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from graph.events.codec import KINDS, UPCASTERS, decode

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("agent", "graph", "models", "tui")
LOGS = ROOT / "tests" / "graph" / "fixtures"
WORDS = ("title", "description")  # of a schema: names of classes, and what they say of themselves
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems", "minLength", "maxLength"}
BOUNDS |= {"additionalProperties"}


def events() -> dict[str, Any]:
    """Every kind of event: its newest version, from which earlier versions it is read, and its fields."""
    found: dict[str, Any] = {}
    for kind, event in KINDS.items():
        reads = sorted(version for of, version in UPCASTERS if of == kind)
        fields = briefly_by_name(resolved(event.model_json_schema()))
        found[kind] = {"": f"version {event.version}, reads {reads}"} | {k: v for k, v in fields.items() if k != "kind"}
    return found


def logs() -> dict[str, Any]:
    """What every log of an earlier version says, read by the code of today."""
    found: dict[str, Any] = {}
    for path in sorted(LOGS.glob("*.sqlite")):
        with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
            rows = db.execute("SELECT kind, version, structure, text FROM events ORDER BY seq").fetchall()
        read = [decode(*row).model_dump(mode="json", exclude_none=True) for row in rows]
        found[path.name] = {f"{number:02} {event.pop('kind')}": _flat(event) for number, event in enumerate(read, 1)}
    return found


def _flat(fields: dict[str, Any]) -> str:
    """The fields of an event as one line."""
    return ", ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in sorted(fields.items()))


def exported() -> dict[str, Any]:
    """What each package and sub-package gives away, and what the modules name that say so."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    found: dict[str, Any] = {}
    for path in files:
        parts = path.relative_to(ROOT).with_suffix("").parts
        text, package = path.read_text(encoding="utf-8"), path.name == "__init__.py"
        if package or "__all__" in text:
            found[".".join(parts).removesuffix(".__init__")] = _exported(ast.parse(text), package=package)
    return found


def briefly_by_name(schema: dict[str, Any]) -> dict[str, str]:
    """The fields of a resolved object schema, each as a line: whether it is required, its type, bounds and words."""
    told = {name: briefly(field) for name, field in schema["properties"].items()}
    return {name: f"required {line}" if name in schema.get("required", ()) else line for name, line in told.items()}


def briefly(schema: dict[str, Any]) -> str:
    """A resolved JSON schema as a line. Raises AssertionError where it would leave something out."""
    rest = dict(schema)
    match rest:
        case {"const": value}:
            rest.pop("type", None)
            told = json.dumps(rest.pop("const", value))
        case {"anyOf": each}:
            del rest["anyOf"]
            told = " or ".join(map(briefly, each))
        case {"enum": each}:
            del rest["enum"], rest["type"]
            told = "|".join(each)
        case {"type": "array"}:
            del rest["type"]
            items = [briefly(each) for each in rest.pop("prefixItems", ())] or [briefly(rest.pop("items"))]
            told = f"[{', '.join(items)}]"
        case {"type": "object", "properties": _}:
            del rest["type"]
            told = "{" + ", ".join(f"{name}: {line}" for name, line in briefly_by_name(rest).items()) + "}"
            rest = {name: value for name, value in rest.items() if name not in ("properties", "required")}
        case {"type": "object"}:
            del rest["type"]
            names, values = rest.pop("propertyNames", None), rest.pop("additionalProperties")
            of_names = briefly(names | {"type": "string"}) if names else "*"
            told = f"{{{of_names}: {briefly(values) if isinstance(values, dict) else values}}}"
        case _:
            told = rest.pop("type", "anything")
    words = rest.pop("description", "")
    if "default" in rest:
        told += f" = {json.dumps(rest.pop('default'), ensure_ascii=False)}"
    for name in sorted(BOUNDS & set(rest)):
        told += f" {name} {rest.pop(name)}"
    assert not rest, f"say what this is: {rest}"
    return f"{told}: {words}" if words else told


def resolved(schema: dict[str, Any], *, words: bool = False) -> dict[str, Any]:
    """A JSON schema without references, so that no name of a class is in it; with `words`, what it says for people."""
    named = schema.get("$defs", {})

    def of(value: Any) -> Any:
        match value:
            case {"$ref": str(name)}:
                return of(named[name.rpartition("/")[2]] | {k: v for k, v in value.items() if k != "$ref"})
            case dict():
                kept = {key: each for key, each in value.items() if key != "$defs" and key != "title"}
                kept = {key: each for key, each in kept.items() if words or key not in WORDS}
                return {key: _properties(each) if key == "properties" else of(each) for key, each in kept.items()}
            case list():
                return [of(each) for each in value]
        return value

    def _properties(fields: dict[str, Any]) -> dict[str, Any]:
        return {name: of(each) for name, each in fields.items()}

    whole: dict[str, Any] = of(schema)
    return whole


def _exported(module: ast.Module, *, package: bool) -> list[str]:
    """The names of `__all__`; of a package without it, the public ones that it defines itself."""
    defined: list[str] = []
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return sorted(ast.literal_eval(value))
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                defined.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                defined.append(name)
    return sorted(name for name in defined if not name.startswith("_")) if package else []
