"""What the scripted model does where it plays a part: scenario "story" of fake_model.py.

A story is a JSON file of rules.  The first rule of which all texts of `has` (and none of `not`) stand in the
newest message of the person that any rule fits is played: its `steps`, one for each answer of the model.

  {"rules": [{"has": ["# Review of task 1.1"], "not": ["This is round 2"], "steps": [
      {"do": "sh", "command": "cat a.txt", "sees": "hello"},
      {"do": "read", "path": "/repo/a.txt"},
      {"do": "write", "path": "/repo/b.txt", "text": "b\\n"},
      {"do": "mcp", "tool": "swarm_status", "arguments": {"expect": "${expect}"}},
      {"do": "say", "text": "Done."}]}]}

`sees`: what the tool has to answer; otherwise the model says what it saw instead, and the story is over.
`after`: a file that has to hold something before the model answers, {"path": "/repo/a.txt", "holds": "hello"}.
`${expect}` is the last value of that name in any answer of a tool.
"""
import re, shlex, time

WAITS_MAX = 60


def text_of(content):
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "\n".join(text_of(value) for key, value in content.items() if key not in ("type", "id", "call_id", "name"))
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    return "" if content is None else str(content)


def turns(api, body):
    """The conversation as ("said", text) of the person and ("result", text) of a tool."""
    found = []
    if api == "anthropic":
        for message in body.get("messages") or []:
            if message.get("role") != "user":
                continue
            content = message.get("content")
            parts = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
            for part in parts:
                if part.get("type") == "tool_result":
                    found.append(("result", text_of(part.get("content"))))
            said = "\n".join(part.get("text", "") for part in parts if part.get("type") == "text")
            if said:
                found.append(("said", said))
    elif api == "responses":
        items = body.get("input")
        for item in [{"role": "user", "content": items}] if isinstance(items, str) else items or []:
            if item.get("type") == "tool_search_output":
                continue
            if str(item.get("type", "")).endswith("_output"):
                found.append(("result", text_of(item.get("output"))))
            elif item.get("role") == "user":
                found.append(("said", text_of(item.get("content"))))
    elif api == "chat":
        for message in body.get("messages") or []:
            if message.get("role") == "tool":
                found.append(("result", text_of(message.get("content"))))
            elif message.get("role") == "user":
                found.append(("said", text_of(message.get("content"))))
    else:
        for content in body.get("contents") or []:
            for part in content.get("parts") or []:
                if "functionResponse" in part:
                    found.append(("result", text_of(part["functionResponse"].get("response"))))
                elif content.get("role") == "user" and part.get("text"):
                    found.append(("said", part["text"]))
    return found


def fits(rule, said):
    return all(text in said for text in rule["has"]) and not any(text in said for text in rule.get("not", []))


def find(rules, conversation):
    """The rule that is played, and what the tools have answered since it began."""
    for at in range(len(conversation) - 1, -1, -1):
        kind, said = conversation[at]
        if kind != "said":
            continue
        for rule in rules:
            if fits(rule, said):
                return rule, [text for kind, text in conversation[at + 1:] if kind == "result"]
    return None, []


def filled(value, results):
    """Arguments with what earlier answers named."""
    if isinstance(value, dict):
        return {key: filled(inner, results) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, results) for inner in value]
    name = re.fullmatch(r"\$\{(\w+)\}", value) if isinstance(value, str) else None
    if not name:
        return value
    pattern = r'\b%s\\*"\s*:\s*\\*"?([^"\\,}\s]+)' % name.group(1)
    values = [match for text in results for match in re.findall(pattern, text)]
    if not values:
        return value
    return int(values[-1]) if values[-1].isdigit() and name.group(1) == "seq" else values[-1]


def came(what):
    """Whether the file holds it by now, or soon."""
    for _ in range(WAITS_MAX * 10):
        try:
            with open(what["path"]) as file:
                if what["holds"] in file.read():
                    return True
        except OSError:
            pass
        time.sleep(0.1)
    return False


def act(rules, api, body, rec):
    """What the model answers: ("text", words) or ("call", step)."""
    rule, results = find(rules, turns(api, body))
    if rule is None:
        rec(event="no_rule")
        return ("text", "There is no rule for this.")
    steps = rule["steps"]
    at = min(len(results), len(steps) - 1)
    wanted = steps[at - 1].get("sees") if at else None
    if wanted is not None and wanted not in results[at - 1]:
        rec(event="unseen", wanted=wanted, got=results[at - 1][:2000])
        return ("text", "I wanted to see %r and saw %r." % (wanted, results[at - 1][:300]))
    step = filled(steps[at], results)
    if "after" in step and not came(step["after"]):
        rec(event="unseen", wanted=step["after"], got="nothing within %d s" % WAITS_MAX)
    rec(event="plays", rule=rule["has"], step=at, do=step["do"])
    return ("text", step["text"]) if step["do"] == "say" else ("call", step)


SHELLS = (("Bash", "command"), ("bash", "command"), ("run_shell_command", "command"), ("shell_command", "command"),
          ("exec_command", "cmd"))
READS = (("Read", "file_path"), ("read_file", "file_path"), ("read", "filePath"))
WRITES = (("Write", "file_path"), ("write_file", "file_path"), ("write", "filePath"))


def namespace_of(body, name):
    """The namespace that holds this tool: one that is shown at once, or one that a search for tools has found."""
    items = body.get("input")
    found = [item for item in items if item.get("type") == "tool_search_output"] if isinstance(items, list) else []
    for space in [space for holder in [body] + found for space in holder.get("tools") or []]:
        if any(inner.get("name") == name for inner in space.get("tools") or []):
            return space.get("name")
    return None


def tool(names, body, step):
    """-> name (with its namespace in front, "a/b") and arguments; the shell where a program has no tool of its own."""
    if step["do"] == "mcp":
        found = [name for name in names if name == step["tool"] or name.endswith("_" + step["tool"])]
        space = namespace_of(body, step["tool"])
        if not found and space is not None:
            found = [space + "/" + step["tool"]]
        if not found and "tool_search" in names:
            return "tool_search", {"query": step["tool"].replace("_", " "), "limit": 20}
        return (found[0] if found else step["tool"]), step.get("arguments", {})
    if step["do"] == "read":
        for name, argument in READS:
            if name in names:
                return name, {argument: step["path"]}
        return shell(names, "cat -- " + shlex.quote(step["path"]))
    if step["do"] == "write":
        for name, argument in WRITES:
            if name in names:
                return name, {argument: step["path"], "content": step["text"]}
        return shell(names, "printf %%s %s > %s" % (shlex.quote(step["text"]), shlex.quote(step["path"])))
    return shell(names, step["command"])


def shell(names, command):
    for name, argument in SHELLS:
        if name in names:
            more = {"yield_time_ms": 30000} if name == "exec_command" else {}
            if name in ("Bash", "bash", "run_shell_command"):
                more["description"] = "run a command"
            return name, {argument: command, **more}
    return "shell", {"command": ["bash", "-lc", command]}
