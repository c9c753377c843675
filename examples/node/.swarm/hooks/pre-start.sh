#!/bin/sh
# pre-start: one line for each agent that takes a task.
echo "$SWARM_AGENT takes $SWARM_TASK_ID" >> .swarm/started.log
