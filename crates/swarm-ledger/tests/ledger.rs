//! Everything about the ledger.

mod world;

mod append;
mod cold;
mod damage;
mod full_disk;
mod keeping;
mod killed;
mod locks;
mod planted;
mod recovery;
mod rot;
mod stranger;
