#!/bin/sh
# post-merge: a line for each merge, outside of git's sight.
echo "$SWARM_TASK_ID $SWARM_COMMIT_HASH" >> .swarm/merged.log
