//! Which processors of the host this process may use.

/// One bit for each: more than any host has.
pub(crate) type ProcessorSet = [u64; 64];

/// Those that this thread may use; none where the host does not tell.
pub(crate) fn usable() -> ProcessorSet {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let listed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    listed.map_or([0; 64], listed_in)
}

/// Those of a list like `0-3,8`.
fn listed_in(list: &str) -> ProcessorSet {
    let mut all = [0; 64];
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            (first..=last.min(64 * all.len() - 1)).for_each(|number| all[number / 64] |= 1 << (number % 64));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_processors_is_a_set_of_them() {
        let numbers = |list| (0..4096).filter(|n| listed_in(list)[n / 64] & 1 << (n % 64) != 0).collect::<Vec<usize>>();
        assert_eq!(numbers("\t0-3,8\n"), [0, 1, 2, 3, 8]);
        assert_eq!(numbers("63-64,4095"), [63, 64, 4095]);
        assert_eq!(numbers("4094-9999,7-6,x,"), [4094, 4095]);
        assert_eq!(numbers(""), []);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_host_tells_what_this_thread_may_use() {
        let told: usize = usable().iter().map(|word| word.count_ones() as usize).sum();
        assert!(told >= std::thread::available_parallelism().unwrap().get());
    }
}
