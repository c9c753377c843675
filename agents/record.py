#!/usr/bin/env python3
"""Records what a real agent program says in bad weather, into captures/PROGRAM/NAME/ like the others.

usage: record.py --bin node_modules/.bin [--limit SECS] PROGRAM/NAME...     (`record.py --list` prints them)

The program talks with fake_model.py on loopback, with a service whose name is not known (dns), or with a port on which
nobody listens (conn_refused). It is started as Swarm starts it, by its own settings few retries included, in a home folder
of its own; its path is replaced in what is kept. Standard library only."""
import argparse, json, os, shutil, signal, subprocess, sys, tempfile, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
PROMPT = "Create hello.txt containing hello."
# name of the recording -> scenario of fake_model.py
WEATHER = {
    "server_error": "server_error", "dns": None, "conn_refused": None, "rate_limit": "rate_limit", "quota": "quota",
    "quota_plain": "quota_plain", "auth": "auth", "billing": "billing", "overflow": "overflow", "drop": "drop",
    "hang": "hang", "loop": "loop", "unknown_flag": "text", "sigkill_tool": "slow_tool",
}
# folder -> prefix of names -> how it is started, and how it is talked with
PROGRAMS = {
    "claude": {"": (["claude", "-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"], "prompt")},
    "codex": {"": (["codex", "-c", "analytics.enabled=false", "exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access", "-"], "prompt"),
              "app_server_": (["codex", "-c", "analytics.enabled=false", "app-server"], "app-server")},
    "gemini": {"": (["gemini", "--skip-trust", "--approval-mode", "yolo", "--output-format", "stream-json", "-m", "gemini-2.5-pro"], "prompt"),
               "acp_": (["gemini", "--skip-trust", "--acp"], "acp")},
    "opencode": {"": (["opencode", "run", "--format", "json", "--auto", "--print-logs", "--log-level", "INFO"], "prompt"),
                 "acp_": (["opencode", "acp", "--print-logs", "--log-level", "INFO"], "acp")},
    "claude-agent-acp": {"acp_": (["claude-agent-acp"], "acp")},
    "codex-acp": {"acp_": (["codex-acp", "-c", "analytics.enabled=false", "-c", "sandbox_mode=danger-full-access", "-c", "approval_policy=never"], "acp")},
}


def known():
    for folder, ways in PROGRAMS.items():
        for prefix in ways:
            for name in WEATHER:
                yield f"{folder}/{prefix}{name}"


def settings(home, url, scratch):
    """Each program pointed at the service in its own way; the rest as Swarm sets it."""
    for below in (".codex", ".gemini", ".config/opencode", ".claude"):
        os.makedirs(os.path.join(home, below))
    write = lambda path, text: open(os.path.join(home, path), "w").write(text)
    write(".codex/config.toml", f'model = "gpt-5.5"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\n'
          f'base_url = "{url}/v1"\nenv_key = "FAKE_KEY"\nwire_api = "responses"\n')
    write(".config/opencode/opencode.json", json.dumps({"model": "fake/fake-model", "provider": {"fake": {
        "npm": "@ai-sdk/openai-compatible", "name": "fake", "options": {"baseURL": url + "/v1", "apiKey": "dummy"},
        "models": {"fake-model": {"name": "fake", "limit": {"context": 200000, "output": 8000}}}}}}))
    write(".gemini/settings.json", json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    write(".gitconfig", "[user]\n\tname = You\n\temail = you@localhost\n")
    gemini = os.path.join(scratch, "gemini-settings.json")
    with open(gemini, "w") as f:
        json.dump({"general": {"maxAttempts": 2, "disableAutoUpdate": True, "disableUpdateNag": True},
                   "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}, f)
    env = {"HOME": home, "TERM": "dumb", "LANG": "C.UTF-8", "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy",
           "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "dummy", "FAKE_KEY": "dummy", "IS_SANDBOX": "1",
           "CLAUDE_CODE_MAX_RETRIES": "2", "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true",
           "GEMINI_CLI_SYSTEM_SETTINGS_PATH": gemini, "OPENCODE_CONFIG_CONTENT": '{"autoupdate":false,"share":"disabled"}'}
    for name in ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
                 "OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD",
                 "OPENCODE_DISABLE_DEFAULT_PLUGINS"):
        env[name] = "1"
    return env


class Talk:
    """Our side of the dialogue, as the swarm leads it."""
    def __init__(self, kind, pipe, cwd):
        self.kind, self.pipe, self.cwd, self.step, self.over = kind, pipe, cwd, 0, False
        if kind == "acp":
            self.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": False, "writeTextFile": False}}})
        elif kind == "app-server":
            self.ask("initialize", {"clientInfo": {"name": "swarm", "title": "Swarm", "version": "0.1.0"}})

    def send(self, message):
        if self.kind == "acp": message = {"jsonrpc": "2.0", **message}
        try:
            self.pipe.write((json.dumps(message) + "\n").encode()); self.pipe.flush()
        except OSError: pass

    def ask(self, method, params):
        self.send({"id": self.step, "method": method, "params": params}); self.step += 1

    def hear(self, line):
        try: said = json.loads(line)
        except ValueError: return
        if not isinstance(said, dict): return
        if "method" in said and "id" in said: return self.asked(said)
        if said.get("method") == "turn/completed": return self.close()
        if "id" not in said: return
        if "error" in said: return self.close()
        if self.kind == "acp":
            if self.step == 1: self.ask("session/new", {"cwd": self.cwd, "mcpServers": []})
            elif self.step == 2:
                self.ask("session/prompt", {"sessionId": said["result"]["sessionId"], "prompt": [{"type": "text", "text": PROMPT}]})
            else: self.close()
        elif self.step == 1:
            self.send({"method": "initialized", "params": {}})
            self.ask("thread/start", {"cwd": self.cwd, "approvalPolicy": "never", "sandbox": "danger-full-access"})
        elif self.step == 2:
            self.ask("turn/start", {"threadId": said["result"]["thread"]["id"], "input": [{"type": "text", "text": PROMPT}]})

    def asked(self, said):
        options = said.get("params", {}).get("options", [])
        for kind in ("allow_always", "allow_once"):
            for option in options:
                if option.get("kind") == kind:
                    return self.send({"id": said["id"], "result": {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}})
        self.send({"id": said["id"], "error": {"code": -32601, "message": "not served"}})

    def close(self):
        self.over = True
        try: self.pipe.close()
        except OSError: pass


def works(lines):
    """A tool runs."""
    marks = ('"tool_use"', '"commandExecution"', '"command_execution"', '"tool_call"', '"session/request_permission"', "action.action=allow")
    return any(mark in line for line in lines for mark in marks)


def record(target, bins, limit):
    folder, name = target.split("/", 1)
    ways = PROGRAMS[folder]
    prefix = max((p for p in ways if name.startswith(p) and name[len(p):] in WEATHER), key=len)
    argv, kind = ways[prefix]
    weather = name[len(prefix):]
    place = tempfile.mkdtemp(prefix="record-")
    home, repo = os.path.join(place, "home"), os.path.join(place, "home", "repo")
    os.makedirs(repo)
    subprocess.run(["git", "init", "-q", "-b", "main", repo], check=True)
    model, log = None, os.path.join(place, "model.log")
    if WEATHER[weather]:
        port_file = os.path.join(place, "port")
        model = subprocess.Popen([sys.executable, os.path.join(HERE, "fake_model.py"), "--scenario", WEATHER[weather], "--cwd", repo,
                                  "--port-file", port_file, "--log", log, "--slow-cmd", "tail -f /dev/null"])
        while not os.path.exists(port_file): time.sleep(0.05)
        url = "http://127.0.0.1:" + open(port_file).read()
    else:
        url = "http://service.invalid:80" if weather == "dns" else "http://127.0.0.1:9"
    env = settings(home, url, place)
    env["PATH"] = os.path.abspath(bins) + ":" + os.environ["PATH"]
    if weather == "unknown_flag": argv = argv + ["--no-such-flag"]
    began, heard = time.time(), {"stdout": [], "stderr": []}
    child = subprocess.Popen(argv, cwd=repo, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    talk = None
    if kind == "prompt":
        try: child.stdin.write(PROMPT.encode()); child.stdin.close()
        except OSError: pass
    else: talk = Talk(kind, child.stdin, repo)

    def read(stream, into):
        for line in stream:
            line = line.decode("utf-8", "replace"); into.append(line)
            if talk and into is heard["stdout"]: talk.hear(line)
    readers = [threading.Thread(target=read, args=(child.stdout, heard["stdout"])), threading.Thread(target=read, args=(child.stderr, heard["stderr"]))]
    for reader in readers: reader.start()
    signals, timed_out, over_since = [], False, None

    def send(which, why):
        signals.append({"signal": which, "to": "group", "t": round(time.time() - began, 2), "why": why})
        try: os.killpg(child.pid, getattr(signal, "SIG" + which))
        except OSError: pass
    killed = weather == "sigkill_tool"
    while child.poll() is None:
        time.sleep(0.05)
        now = time.time()
        if killed and works(heard["stdout"] + heard["stderr"]):
            time.sleep(1); send("KILL", "while a tool runs"); break
        if talk and talk.over:
            over_since = over_since or now
            if now - over_since > 5: send("TERM", "did not exit on stdin EOF"); break
        if now - began > limit:
            timed_out = True; send("TERM", "our limit of time"); break
    try: child.wait(10)
    except subprocess.TimeoutExpired: os.killpg(child.pid, signal.SIGKILL); child.wait()
    try: os.killpg(child.pid, signal.SIGKILL)  # what is left of its group
    except OSError: pass
    for reader in readers: reader.join(10)
    if model: model.kill(); model.wait()
    requests = [json.loads(l) for l in open(log)] if os.path.exists(log) else []
    code = child.returncode
    text = {name: "".join(lines).replace(home, "/home/you").replace(place, "/tmp/place").replace(os.path.abspath(bins), "/opt/agents") for name, lines in heard.items()}
    for way in (os.path.dirname(os.path.dirname(os.path.abspath(bins))),):
        text = {name: said.replace(way, "/opt/agents") for name, said in text.items()}
    out = os.path.join(HERE, "captures", folder, name)
    os.makedirs(out, exist_ok=True)
    for stream in ("stdout", "stderr"): open(os.path.join(out, stream), "w").write(text[stream])
    open(os.path.join(out, "exit"), "w").write(f"{code if code >= 0 else 128 - code}\n")
    # A signal that the swarm did not send is what the recording is about.
    meta = {"cli": argv[0], "scenario": WEATHER[weather] or weather, "name": name, "argv": argv, "reuse": None, "config": "", "env_extra": [],
            "exit": code if code >= 0 else 128 - code, "signaled": code < 0, "timed_out": timed_out, "duration_s": round(time.time() - began, 2),
            "main_requests": sum(1 for r in requests if r.get("kind") == "main"), "side_requests": sum(1 for r in requests if r.get("kind") == "side"),
            "stdout_bytes": len(text["stdout"].encode()), "stderr_bytes": len(text["stderr"].encode()), "signals": signals,
            "stdin": "pipe" if talk else "prompt"}
    open(os.path.join(out, "meta.json"), "w").write(json.dumps(meta, indent=1) + "\n")
    shutil.rmtree(place, ignore_errors=True)
    print(f"{target}: exit {meta['exit']} after {meta['duration_s']} s", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("targets", nargs="*"); ap.add_argument("--bin", default="node_modules/.bin")
    ap.add_argument("--limit", type=float, default=60); ap.add_argument("--list", action="store_true")
    args = ap.parse_args()
    if args.list: return print("\n".join(known()))
    for target in args.targets:
        if target not in set(known()): sys.exit("there is no recording " + target + ": see --list")
        record(target, args.bin, args.limit)


if __name__ == "__main__":
    main()
