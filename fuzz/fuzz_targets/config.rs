#![cfg_attr(fuzzing, no_main)]

swarm_fuzz::target!(config);
