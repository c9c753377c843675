//! Open files that whoever started us left open. A program that we start gets none of them: a folder among them would lead
//! past every mount, and a file opened for writing past every right.
#![allow(
    unsafe_code,
    reason = "marks descriptors that belong to nobody here, which no safe library can name"
)]

use std::io;

/// Behind input, output and errors.
const FIRST: libc::c_uint = 3;

/// No program that this process becomes or starts gets any of the files that are open now. We keep them: one may be a
/// plan that we are still to read.
pub fn hand_on_no_files() -> io::Result<()> {
    // SAFETY: three numbers; no descriptor is closed, and the mark is what every descriptor of ours has anyway.
    let done =
        unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    // Before Linux 5.11, and in containers that do not know the call.
    if done == 0 { Ok(()) } else { one_by_one() }
}

fn one_by_one() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<libc::c_int>().ok());
        let Some(number) = number.filter(|number| number.cast_unsigned() >= FIRST) else { continue };
        // SAFETY: a number and a mark, as above.
        let done = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        let error = io::Error::last_os_error();
        // One that is closed meanwhile needs no mark.
        if done != 0 && error.raw_os_error() != Some(libc::EBADF) {
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

    #[test]
    fn no_file_is_handed_on_also_where_each_must_be_marked_alone() {
        let file = std::fs::File::open("/dev/null").expect("opened");
        for mark in [hand_on_no_files, one_by_one] {
            fcntl_setfd(&file, FdFlags::empty()).expect("inherited");
            mark().expect("marked");
            assert_eq!(fcntl_getfd(&file).expect("its marks"), FdFlags::CLOEXEC);
        }
    }
}
