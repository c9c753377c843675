#!/bin/sh
# post-merge: trunk has moved.
echo "$SWARM_TASK_ID $SWARM_COMMIT_HASH" >> .swarm/merged.log
