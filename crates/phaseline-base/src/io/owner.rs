//! Protection of a file or folder from other users.

use std::{fs::Metadata, os::unix::fs::MetadataExt};

/// Fault by which others than the user and the system's administrator can decide on the contents;
/// none if they cannot. Their right to write counts unless it is `allowed`.
pub fn fault(found: &Metadata, allowed: bool) -> Option<String> {
    let owner = found.uid();
    if ![0, rustix::process::geteuid().as_raw()].contains(&owner) {
        return Some(format!("belongs to another user ({owner})"));
    }
    // Links have all rights, which mean nothing.
    let may_write = found.mode() & 0o022 != 0 && !found.is_symlink();
    let mode = found.mode() & 0o7777;
    (may_write && !allowed).then(|| format!("can be written to by others (mode {mode:04o})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt, chown},
    };

    #[test]
    fn others_are_who_neither_the_user_nor_the_administrator_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        let fault = |mode, allowed| {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            fault(&path.metadata().unwrap(), allowed)
        };
        for (mode, is_fault) in
            [(0o755, false), (0o600, false), (0o775, true), (0o757, true), (0o1777, true)]
        {
            assert_eq!(fault(mode, false).is_some(), is_fault, "{mode:o}");
            assert_eq!(fault(mode, true), None, "{mode:o}");
        }
        let text = fault(0o775, false).unwrap();
        assert_eq!(text, "can be written to by others (mode 0775)");
        if rustix::process::geteuid().is_root() {
            chown(&path, Some(7), None).unwrap();
            assert_eq!(fault(0o600, true).unwrap(), "belongs to another user (7)");
        }
    }
}
