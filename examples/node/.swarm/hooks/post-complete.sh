#!/bin/sh
# post-complete: what became of each task. A good place for a desktop notification.
echo "$SWARM_TASK_ID $SWARM_STATUS" >> .swarm/completed.log
