#!/bin/sh
# Stop: the turn may end once CHANGES.md has an entry.
#
# It asks exactly once. `stop_hook_active` says that the turn already goes on because of a Stop
# hook; blocking again then is how people get endless turns.
set -u

payload=$(cat)
case $payload in
*'"stop_hook_active":true'* | *'"stop_hook_active": true'*) exit 0 ;;
esac

cd "${CLAUDE_PROJECT_DIR:-.}" || exit 1
if grep -q '^- ' CHANGES.md 2>/dev/null; then
    exit 0
fi
printf '{"decision":"block","reason":"%s"}\n' \
    "CHANGES.md has no entry yet. Add one line that starts with '- ' under Unreleased, then stop."
