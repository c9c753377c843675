#!/bin/sh
# pre-merge: refuses work that still prints for debugging.
if git grep --line-number 'dbg!(' "$SWARM_BRANCH" -- '*.rs'; then
    echo "remove dbg! before the work is merged" >&2
    exit 1
fi
