#!/bin/sh
# PreToolUse, matcher "^Bash$": the same refusal as .claude/hooks/guard.sh, said in JSON.
#
# Codex wants a reason with every denial, and takes no key that it does not know: a denial with
# one word too many is not a denial.
set -u

payload=$(cat)
input=${payload#*\"tool_input\":}

refuse() {
    printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"%s"}}\n' "$1"
    exit 0
}

case $input in
*'rm -rf '* | *'rm -fr '* | *'rm -r -f '*)
    refuse "guard: this project is not wiped from a script. Name the single files, or move them to attic/."
    ;;
*'git push --force'* | *'git push -f'* | *'git reset --hard'*)
    refuse "guard: history here is kept. Make a new commit instead."
    ;;
esac
exit 0
