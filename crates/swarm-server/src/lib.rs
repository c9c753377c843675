//! The doors of a running swarm: both ends of the work channel and the commands of people, over one
//! Unix socket. Nothing here knows git, processes or rules; it turns bytes into frames and back.

pub mod socket;
pub mod frames;
pub mod work_channel;
pub mod listener;
pub mod client;
pub mod daemon_process;
