//! How much memory the host has to give, and how much this process has taken of it.

use std::path::{Path, PathBuf};
use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};

/// Bytes that this process can still take: what the machine has available, or less if a control group that the process
/// belongs to, as in a container, has less left. None where the system does not tell.
pub fn available() -> Option<u64> {
    [left_of_machine(), left_in_groups()].into_iter().flatten().min()
}

fn left_of_machine() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    Some(system.available_memory()).filter(|&bytes| bytes > 0)
}

/// Bytes of the host's memory that this process takes now; 0 where the system does not tell.
pub fn taken() -> u64 {
    resident().or_else(taken_elsewhere).unwrap_or(0)
}

fn taken_elsewhere() -> Option<u64> {
    let own = sysinfo::get_current_pid().ok()?;
    let mut system = System::new().ok()?;
    let kind = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, kind);
    system.process(own).map(sysinfo::Process::memory)
}

/// The same on Linux, where one line of a file tells it: this is asked often.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes << 10)
}

/// The least that any control group of this process has left (Linux).
fn left_in_groups() -> Option<u64> {
    let groups = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    groups.lines().filter_map(left_in).min()
}

/// What the groups of a line `ID:CONTROLLERS:PATH` have left, those above included: within a container the path may be one outside, and
/// what can be seen is the container's own group, at the root.
fn left_in(line: &str) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let (root, version) = match controllers {
        "" => ("/sys/fs/cgroup", &UNIFIED),
        list if list.split(',').any(|controller| controller == "memory") => ("/sys/fs/cgroup/memory", &FIRST),
        _ => return None,
    };
    let below = path.trim_start_matches('/');
    Path::new(below).ancestors().filter_map(|group| left_of(&Path::new(root).join(group), version)).min()
}

/// How a version of control groups calls its files.
struct Files {
    limit: &'static str,
    used: &'static str,
    /// In `memory.stat`, what is used and can be given back at once.
    cached: &'static str,
}

const UNIFIED: Files = Files { limit: "memory.max", used: "memory.current", cached: "inactive_file " };
const FIRST: Files =
    Files { limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", cached: "total_inactive_file " };

fn left_of(group: &Path, files: &Files) -> Option<u64> {
    let read = |file: &str| std::fs::read_to_string(PathBuf::from(group).join(file)).ok();
    let number = |file: &str| read(file)?.trim().parse::<u64>().ok();
    let (limit, used) = (number(files.limit)?, number(files.used)?);
    let stat = read("memory.stat").unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(files.cached)?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_left_what_is_not_used_but_for_what_can_be_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(left_of(folder.path(), &UNIFIED), None);
        write("memory.current", "700\n");
        write("memory.max", "max\n");
        assert_eq!(left_of(folder.path(), &UNIFIED), None);
        write("memory.max", "1000\n");
        assert_eq!(left_of(folder.path(), &UNIFIED), Some(300));
        write("memory.stat", "anon 500\ninactive_file 150\n");
        assert_eq!(left_of(folder.path(), &UNIFIED), Some(450));
        write("memory.max", "100\n");
        assert_eq!(left_of(folder.path(), &UNIFIED), Some(0));
        write("memory.limit_in_bytes", "50\n");
        write("memory.usage_in_bytes", "20\n");
        assert_eq!(left_of(folder.path(), &FIRST), Some(30));
    }

    #[test]
    fn what_this_process_takes_grows_with_it() {
        let before = taken();
        // Otherwise the compiler sees that nobody reads them, and takes none.
        let more = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(taken() >= before + (32 << 20) || before == 0, "{before} {}", taken());
        assert!(available().is_none_or(|bytes| bytes > 0));
        drop(more);
    }
}
