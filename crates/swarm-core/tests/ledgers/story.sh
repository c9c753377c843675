#!/bin/sh
# Leads a swarm through as much as one story can hold, with real git and real processes, and leaves its ledger behind.
# usage: story.sh SWARM LEDGER
# SWARM is the program of a release; LEDGER is the file to write. See CONTRIBUTING.md, "A ledger of every release".
set -u
swarm=$(realpath "$1"); out=$(realpath "$2")
place=$(mktemp -d); trap 'rm -rf "$place"' EXIT
cd "$place" && git init -q -b main && git config user.name Person && git config user.email person@example.org
printf 'first\n' > shared.txt && git add . && git commit -qm first
s() { timeout 120 "$swarm" "$@" </dev/null >>log 2>&1 || echo "not done: $*"; }
# Lets the swarm work until it rests; what does not rest is stopped after a while.
work() { timeout -s INT "${1:-60}" "$swarm" run --agent script --agents 3 --mode autopilot </dev/null >>log 2>&1; }
background() { "$swarm" run --agent script --agents 3 --mode "$1" --detach </dev/null >>log 2>&1; }
said() { grep -c "\"type\":\"$1\"" .swarm/plan-ledger.jsonl; }
# Waits until the ledger says so often what is asked for.
until_said() {
    for _ in $(seq 300); do
        [ "$(said "$1")" -ge "${2:-1}" ] && return
        sleep 0.1
    done
    echo "never said: $1"
}
s init
cat > .swarm/config.json <<'END'
{
  "check": { "commands": ["test ! -e red-check"] },
  "verify": { "commands": ["test ! -e red-merge"] },
  "review": { "policy": "command", "commands": ["test ! -e red-review"] },
  "checkpoints": { "periodic": 2 },
  "recovery": { "backoffMax": "1s", "maxRetries": 2, "maxCrashes": 2, "loops": { "note": 2, "stop": 4 } },
  "budget": { "task": { "tokens": 5000 } },
  "quota": { "probeEvery": "1s" },
  "stop": { "grace": "1s", "drain": "1s" }
}
END
mkdir -p .swarm/hooks
for hook in pre-start post-complete pre-merge post-merge on-conflict on-learning on-pause on-error; do
    printf '#!/bin/sh\nexit 0\n' > .swarm/hooks/$hook.sh && chmod +x .swarm/hooks/$hook.sh
done
cat > plan.md <<'END'
# Everything that can happen

## Phase 1: alone
- [ ] 1.1 A plain one
  ```script
  write one.txt one
  print LEARNING: tests live in tests/
  commit one
  complete
  ```
- [ ] 1.2 Crashes twice
  ```script
  on-attempt 1: crash 7
  on-attempt 2: kill-self
  write two.txt two
  commit two
  complete
  ```
- [ ] 1.3 Red checks
  ```script
  on-iteration 1: write red-check yes
  on-iteration 2: delete red-check
  write three.txt three
  commit three
  complete
  ```
- [ ] 1.4 A red review
  ```script
  on-attempt 1: write red-review yes
  on-attempt 2: delete red-review
  write four.txt four
  commit four
  complete
  ```
- [ ] 1.5 A red merge
  ```script
  on-attempt 1: write red-merge yes
  on-attempt 2: delete red-merge
  write five.txt five
  commit five
  complete
  ```

## Phase 2: failing
- [ ] 2.1 Quota
  ```script
  session abc
  on-attempt 1: fail quota resets=2 used up
  write quota.txt back
  commit quota
  complete
  ```
- [ ] 2.2 A service that is down
  ```script
  on-attempt 1: fail overloaded try later
  on-attempt 2: fail network gone
  write service.txt back
  commit service
  complete
  ```
- [ ] 2.3 Refused, then not
  ```script
  session def
  on-attempt 1: fail refused no
  write refused.txt yes
  commit refused
  complete
  ```
- [ ] 2.4 Full
  ```script
  on-attempt 1: fail overflow too much
  write full.txt less
  commit full
  complete
  ```
- [ ] 2.5 Asks
  ```script
  on-attempt 1: blocked which colour
  write asks.txt blue
  commit asks
  complete
  ```
- [ ] 2.6 Gives up
  ```script
  failed cannot be done
  ```
- [ ] 2.7 Denied
  ```script
  denied the network
  fail denied not allowed
  ```
- [ ] 2.8 Expensive
  ```script
  usage input=9000 output=500 cached=0 cost=1.5
  write cost.txt much
  commit cost
  no-signal
  ```
- [ ] 2.9 Crashes for ever
  ```script
  crash 3
  ```
- [ ] 2.10 In circles
  ```script
  on-iteration 1: repeat 6: tool make
  on-iteration 2: repeat 6: tool make
  fail looping the same again
  ```

## Phase 3: together
- [ ] 3.1 One side
  ```script
  write shared.txt left
  commit left
  sleep 500
  complete
  ```
- [ ] 3.2 The other side
  ```script
  write shared.txt right
  commit right
  sleep 2500
  complete
  ```
- [ ] 3.3 Too large
  ```script
  write large.txt begun
  commit begun
  no-signal
  ```
- [ ] 3.4 Slow
  ```script
  on-attempt 1: sleep 60000
  write slow.txt slow
  commit slow
  complete
  ```
- [ ] 3.5 Quick
  ```script
  write quick.txt quick
  commit quick
  complete
  ```
END
s plan save plan.md
s plan approve
s plan profile set --parallel true --max 3
for id in 3.1 3.2 3.3 3.4 3.5 2.9; do s task defer $id; done
work 90
s agent message 2.5 "blue, please"
s task unblock 2.5; s task waive 2.7 check --reason "by hand"; s task cancel 2.7
s budget extend 2.8; s task cancel 2.6
s task unblock 2.9
work 60
s resume --reason errors; s task cancel 2.9
for agent in $(grep agent_degraded .swarm/plan-ledger.jsonl | grep -o '"agent":"[^"]*"' | cut -d'"' -f4 | sort -u); do
    s agent revive "$agent"
done
for id in 3.1 3.2; do s task unblock $id; done
work 60
s task cancel 3.2
# A person's file is in the way of a merge, and then it is not.
merged=$(said merge_completed)
printf 'mine\n' > quick.txt
s task unblock 3.5
background autopilot
until_said publish_waits
rm quick.txt
until_said merge_completed $((merged + 1))
# Steering.
spawned=$(said agent_spawned)
s task unblock 3.4
until_said agent_spawned $((spawned + 1))
s pause --why lunch; sleep 1; s resume
s agent message 3.4 "hurry up"
s agent kill 3.4
sleep 2
s mode semi-auto
s checkpoint create before-lunch
s stop
sleep 1
# Splitting.
cat > parts.md <<'END'
- [ ] First part
  ```script
  write part1.txt 1
  commit part1
  complete
  ```
- [ ] Second part
  ```script
  write part2.txt 2
  commit part2
  complete
  ```
END
s task unblock 3.3
s task split 3.3 parts.md
work 60
# Back and forth.
s task rollback 1.1 --yes
s undo --yes
s redo --yes
work 60
s rollback before-lunch --yes
s undo --yes
work 60
s checkpoint delete before-lunch
s task add "By hand" --id 4.1 --phase 3
s worktree create 4.1
( cd .swarm/worktrees/4.1 2>/dev/null && printf 'mine\n' > mine.txt && git add . && git commit -qm mine )
s worktree merge 4.1
work 40
s task add "Never" --id 4.2 --phase 3
s task edit 4.2 --title "Never ever"; s task move 4.2 --first; s task block 4.2 "not now"; s task remove 4.2
s abort --yes
s undo --yes
# Killed in the middle, and taken over.
s task add "Survives" --id 4.3 --phase 3 --description "\`\`\`script
write survives.txt yes
commit survives
sleep 4000
complete
\`\`\`"
spawned=$(said agent_spawned)
"$swarm" run --agent script --agents 2 --mode autopilot </dev/null >>log 2>&1 & coordinator=$!
until_said agent_spawned $((spawned + 1))
kill -9 $coordinator; wait $coordinator 2>/dev/null
work 60
# No worktree can be set up.
sed -i 's/"quota"/"worktree": { "setup": "false" }, "quota"/' .swarm/config.json
for n in 1 2 3; do s task add "Never made $n" --id 5.$n --phase 3; done
work 20
s resume --reason setup
s plan reset
cp .swarm/plan-ledger.jsonl "$out"
cut -d'"' -f1-40 "$out" | grep -o '"type":"[a-z_]*"' | sort | uniq -c | sort -rn
cp log "$out.log"
