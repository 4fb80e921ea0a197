"""What is stored and imported: the events of the log, what earlier logs say today, and the names of the packages."""

import ast
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from graph.events.codec import KINDS, UPCASTERS, decode

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("agent", "graph", "models", "tui")
LOGS = ROOT / "tests" / "graph" / "fixtures"
WORDS = ("title", "description")  # of a schema: names of classes, and what they say of themselves


def events() -> dict[str, Any]:
    """Every kind of event: its newest version, its fields, and from which earlier versions it is read."""
    return {
        kind: {
            "version": event.version,
            "reads": sorted(version for of, version in UPCASTERS if of == kind),
            "fields": resolved(event.model_json_schema())["properties"],
            "required": sorted(name for name, field in event.model_fields.items() if field.is_required()),
        }
        for kind, event in KINDS.items()
    }


def logs() -> dict[str, Any]:
    """What every log of an earlier version says, read by the code of today."""
    found: dict[str, Any] = {}
    for path in sorted(LOGS.glob("*.sqlite")):
        with closing(sqlite3.connect(f"{path.as_uri()}?immutable=1", uri=True)) as db:
            rows = db.execute("SELECT kind, version, structure, text FROM events ORDER BY seq").fetchall()
        found[path.name] = [decode(*row).model_dump(mode="json", exclude_none=True) for row in rows]
    return found


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
