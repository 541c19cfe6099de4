#!/usr/bin/env python3
"""PostToolUse, matcher "Write|Edit": tidies the file that was just written.

Trailing blanks go, tabs that indent become four spaces, the file ends with one newline. When
something changed, the model is told in `additionalContext`, so that its next edit fits the file.

Standard library only; runs under `python3 -I -S`, which starts twice as fast.
"""

import json
import os
import sys

KINDS = (".py", ".sh", ".toml")


def tidy(text):
    lines = []
    for line in text.splitlines():
        body = line.lstrip(" \t")
        indent = line[: len(line) - len(body)].replace("\t", "    ")
        lines.append((indent + body).rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n" if lines else ""


def inside(path, folder):
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([path, folder]) == folder


def main():
    payload = json.load(sys.stdin)
    project = os.environ.get("CLAUDE_PROJECT_DIR") or payload.get("cwd") or "."
    edited = payload.get("tool_input", {}).get("file_path") or ""
    path = os.path.join(payload.get("cwd") or "", edited)
    if not path.endswith(KINDS) or not os.path.isfile(path) or not inside(path, project):
        return
    try:
        with open(path, encoding="utf-8", newline="") as file:
            before = file.read()
    except UnicodeDecodeError:
        return
    after = tidy(before)
    if after == before:
        return
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(after)
    name = os.path.relpath(os.path.realpath(path), os.path.realpath(project))
    context = f"format.py tidied {name} after your edit; read it again before you change it."
    output = {"hookEventName": "PostToolUse", "additionalContext": context}
    print(json.dumps({"hookSpecificOutput": output}))


main()
