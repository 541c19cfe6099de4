"""A small MCP server over standard input and output, for tests. The argument says what is odd
about it."""

import json
import os
import subprocess
import sys

ODD = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def answer(request, result):
    say({"id": request["id"], "result": result})


def text(words, **more):
    return {"content": [{"type": "text", "text": words}], **more}


def tool(name):
    return {"name": name, "description": f"does {name}", "inputSchema": {"type": "object"}}


def call(request):
    name = request["params"]["name"]
    arguments = request["params"].get("arguments")
    if name == "echo":
        answer(request, text(json.dumps(arguments, sort_keys=True)))
    elif name == "boom":
        answer(request, text("it failed", isError=True))
    elif name == "structured":
        answer(request, text("see there", structuredContent={"k": 1}))
    elif name == "env":
        names = arguments["names"]
        answer(request, text(json.dumps({n: os.environ.get(n) for n in names} | {"cwd": os.getcwd()})))
    elif name == "die":
        print("this is the end", file=sys.stderr, flush=True)
        sys.exit(3)
    elif name == "never":
        pass
    elif name == "cancelled":
        answer(request, text(json.dumps(CANCELLED)))
    else:
        say({"id": request["id"], "error": {"code": -32602, "message": f"no tool {name}"}})


CANCELLED = []
TOOLS = ["echo", "boom", "structured", "env", "die", "never", "cancelled"]

if ODD == "exits":
    print("first line\nnot today", file=sys.stderr)
    sys.exit(1)
if ODD == "child":
    # A process of its own that holds nothing of ours but its group.
    child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    with open(sys.argv[2], "w") as file:
        file.write(str(child.pid))
if ODD == "starts":
    with open(sys.argv[2], "a") as file:
        file.write("started\n")

for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "notifications/cancelled":
        CANCELLED.append(message["params"]["requestId"])
    if "id" not in message or ODD == "mute":
        continue
    if ODD == "garbage":
        print("hello, I am not JSON", flush=True)
        print('{"jsonrpc": "2.0", "id": "no such request", "result": {}}', flush=True)
    elif method == "initialize":
        answer(message, {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {} if ODD == "toolless" else {"tools": {}},
            "serverInfo": {"name": "test", "version": "1"},
        })
    elif method == "tools/list" and ODD == "listless":
        say({"id": message["id"], "error": {"code": -32603, "message": "lost them"}})
    elif method == "tools/list":
        cursor = message.get("params", {}).get("cursor")
        at = int(cursor) if cursor else 0
        page = {"tools": [tool(name) for name in TOOLS[at:at + 3]]}
        if at + 3 < len(TOOLS):
            page["nextCursor"] = str(at + 3)
        answer(message, page)
    elif method == "tools/call":
        call(message)

while ODD == "stays":
    # Does not end with its input, and hears no TERM.
    import signal
    import time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
