//! Scripts: what happens to tasks, told in steps. Each test is data around one `check`.

mod script;
mod attempts;
mod grants;
mod merges;
mod plans;

use script::check;
