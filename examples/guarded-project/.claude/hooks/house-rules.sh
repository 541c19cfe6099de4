#!/bin/sh
# SessionStart: tells the model the rules of the house before its first request.
#
# `additionalContext` reaches the model; nobody else sees it.
set -u

cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1
open=$(grep -c '^- \[ \]' TODO.md 2>/dev/null)

printf '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"%s"}}\n' \
    "House rules: four spaces, no trailing blanks; every change gets a line in CHANGES.md. TODO.md has ${open:-0} open items."
