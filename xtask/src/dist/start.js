#!/usr/bin/env node
// Starts the program of this system. It is a package of its own, so that only one of them is downloaded.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

const own = `swarm-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${own}/swarm`);
} catch {
  console.error(`swarm has no program for ${process.platform} on ${process.arch} here: the package ${own} is missing.`);
  console.error('It runs on Linux with glibc. If this is such a system, install again without --no-optional.');
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
// A person's Ctrl+C reaches the program by itself; what is sent to this process alone is handed on.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => signal === 'SIGINT' || child.kill(signal));
}
child.on('error', (error) => {
  console.error(`swarm cannot be started: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
