#!/bin/sh
# PreToolUse, matcher "Bash": refuses commands that are hard to undo.
#
# The payload is one JSON object on standard input. Exit 2 refuses the call, and what stands on
# standard error is what the model is told. Exit 0 with nothing said has no opinion.
#
# A seat belt, not a wall: it looks for words and does not parse the shell.
set -u

payload=$(cat)
# Only the tool's own input counts, not paths or prompts in other fields.
input=${payload#*\"tool_input\":}

refuse() {
    echo "$1" >&2
    exit 2
}

case $input in
*'rm -rf '* | *'rm -fr '* | *'rm -r -f '*)
    refuse "guard: this project is not wiped from a script. Name the single files, or move them to attic/."
    ;;
*'git push --force'* | *'git push -f'* | *'git reset --hard'*)
    refuse "guard: history here is kept. Make a new commit instead."
    ;;
*'curl '*'| sh'* | *'curl '*'| bash'* | *'curl '*'|sh'*)
    refuse "guard: nothing is run straight from the network. Save it, read it, then run it."
    ;;
esac
exit 0
