//! How many streams may be open: each holds a connection for as long as it likes.
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Open streams in all: a tenth of the connections a server accepts, so that work always finds one.
pub const MAX_STREAMS: usize = 1000;
/// Open streams of one client address (extensions section 3).
pub const MAX_PER_CLIENT: usize = 100;

/// The address a request came from; requests that came through no socket have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// Open streams by client.
#[derive(Debug, Default)]
pub struct Seats {
    taken: Mutex<HashMap<Option<Peer>, usize>>,
}

/// A stream's place; given back when dropped.
#[derive(Debug)]
pub struct Seat {
    seats: Arc<Seats>,
    peer: Option<Peer>,
}

/// No place left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// This client has all it may have.
    Client,
    /// The server has all it will serve.
    Server,
}

impl Seats {
    /// Takes a place.
    ///
    /// # Errors
    /// [`Full`].
    pub fn take(self: &Arc<Self>, peer: Option<Peer>) -> Result<Seat, Full> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.values().sum::<usize>() >= MAX_STREAMS {
            return Err(Full::Server);
        }
        let mine = taken.entry(peer).or_default();
        if *mine >= MAX_PER_CLIENT {
            return Err(Full::Client);
        }
        *mine += 1;
        Ok(Seat { seats: Arc::clone(self), peer })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mine) = taken.get_mut(&self.peer) {
            *mine -= 1;
            if *mine == 0 {
                taken.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Option<Peer> {
        Some(Peer(IpAddr::from([10, 0, 0, last])))
    }

    #[test]
    fn a_client_gets_its_share_and_all_together_theirs() {
        let seats = Arc::new(Seats::default());
        let mut held = Vec::new();
        for _ in 0..MAX_PER_CLIENT {
            held.push(seats.take(peer(1)).unwrap());
        }
        assert_eq!(seats.take(peer(1)).unwrap_err(), Full::Client);
        held.pop();
        held.push(seats.take(peer(1)).unwrap());
        for client in 2..=10 {
            held.extend((0..MAX_PER_CLIENT).map(|_| seats.take(peer(client)).unwrap()));
        }
        assert_eq!(seats.take(peer(11)).unwrap_err(), Full::Server);
        held.clear();
        assert!(seats.taken.lock().unwrap().is_empty());
    }
}
