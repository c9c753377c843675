//! Which file an import without a name means.

use std::path::PathBuf;

use crate::notice::Notice;
use crate::paths::Paths;

/// A file to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportSource {
    pub path: PathBuf,
    /// Set when the place is one that will not be looked at for ever.
    pub deprecated: Option<Notice>,
}

/// The export in `.swarm/`, else one at the repository's root as older tools left it.
pub fn find_import(paths: &Paths) -> Option<ImportSource> {
    if paths.export_json.is_file() {
        return Some(ImportSource { path: paths.export_json.clone(), deprecated: None });
    }
    if paths.root_export_json.is_file() {
        let text = "SWARM_PLAN.json at the root of the repository is deprecated: the place is .swarm/SWARM_PLAN.json";
        let deprecated = Some(Notice::new(text, "swarm plan export"));
        return Some(ImportSource { path: paths.root_export_json.clone(), deprecated });
    }
    None
}
