//! Lease tokens whose value shows whether the token is required.
//!
//! A client that says `lease_tokens: true` when it fetches gets *fenced* claims: only the token settles, releases or
//! extends them. A client that does not gets claims that may be settled without a token, as the protocol allows. The
//! token itself shows the difference, so no store has a column for it: one number in [`STRIDE`] is kept for fenced
//! claims. A claim that an older version of this program made can look fenced by chance; a client without tokens then
//! loses that claim, and the job runs again when its lease has ended.

/// Of so many tokens one is reserved for fenced claims. Large, so that few claims of an older version look fenced;
/// small enough that a range of tokens (2^24 on PostgreSQL) holds more than 200,000 of them.
const STRIDE: i64 = 64;
/// The remainder of a fenced token divided by [`STRIDE`].
const FENCED: i64 = STRIDE - 1;

/// Whether a claim is settled, released and extended by its token only.
pub(crate) const fn is_fenced(lease: i64) -> bool {
    lease.rem_euclid(STRIDE) == FENCED
}

/// The first token of the wanted kind that is not below `start`.
pub(crate) const fn at_or_after(start: i64, fenced: bool) -> i64 {
    if fenced {
        start.saturating_add(FENCED - start.rem_euclid(STRIDE))
    } else if is_fenced(start) {
        start.saturating_add(1)
    } else {
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_whether_it_is_required() {
        for start in [0, 1, 62, 63, 64, 127, 1 << 40] {
            for fenced in [false, true] {
                let token = at_or_after(start, fenced);
                assert_eq!(is_fenced(token), fenced, "{start}");
                assert!(token >= start && token - start < STRIDE, "{start}");
            }
        }
    }
}
