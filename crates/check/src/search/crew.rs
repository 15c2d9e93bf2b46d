//! Parts of one piece of work, each on a host thread.

/// Does each part on a host thread of its own, the first on the present one; what they bring, in the order of the parts.
pub(crate) fn side_by_side<P: Send, R: Send>(parts: Vec<P>, work: impl Fn(usize, P) -> R + Sync) -> Vec<R> {
    let mut parts = parts.into_iter().enumerate();
    let Some((_, own)) = parts.next() else { return Vec::new() };
    let work = &work;
    std::thread::scope(|scope| {
        let others: Vec<_> = parts.map(|(at, part)| scope.spawn(move || work(at, part))).collect();
        let mut brought = vec![work(0, own)];
        brought.extend(others.into_iter().map(|o| o.join().unwrap_or_else(|e| std::panic::resume_unwind(e))));
        brought
    })
}
