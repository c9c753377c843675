#!/bin/sh
# on-error: once for each failure.
echo "$SWARM_TASK_ID $SWARM_ERROR_TYPE: $SWARM_MESSAGE" >> .swarm/errors.log
