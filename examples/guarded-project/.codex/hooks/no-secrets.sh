#!/bin/sh
# UserPromptSubmit: keeps a pasted private key from being sent, and otherwise adds one context.
#
# Plain text on standard output becomes context for the model.
set -u

payload=$(cat)
case $payload in
*'PRIVATE KEY-----'*)
    echo "no-secrets: the prompt holds a private key. Nothing was sent; remove it and ask again." >&2
    exit 2
    ;;
esac
echo "Work in src/; note each change in CHANGES.md."
