//! How much one client may hold open: connections, streams, requests that wait. Each costs the server a place for as long as the client
//! likes, so no client gets all of them.
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Open streams in all: a tenth of the connections a server accepts, so that work always finds one.
pub const MAX_STREAMS: usize = 1000;
/// Open streams of one client address (extensions section 3), and of one key.
pub const MAX_PER_CLIENT: usize = 100;
/// Requests that wait, in all.
pub const MAX_WAITING: usize = 8000;
/// Requests of one client address, and of one key, that wait.
pub const MAX_WAITING_PER_CLIENT: usize = 4000;

/// The address a request came from; requests that came through no socket have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// The client behind an address. A client with IPv6 has a network of addresses to itself: its first 64 bits count.
    #[must_use]
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
            }
            address => address,
        })
    }
}

/// Who wants a place.
#[derive(Debug, Clone, Default)]
pub struct Guest {
    /// The address it comes from.
    pub peer: Option<Peer>,
    /// The name of its key.
    pub key: Option<Arc<str>>,
}

/// What places are counted by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Who {
    /// The process itself.
    Inside,
    Peer(Peer),
    Key(Arc<str>),
}

impl Guest {
    fn counted(&self) -> [Option<Who>; 2] {
        [Some(self.peer.map_or(Who::Inside, Who::Peer)), self.key.clone().map(Who::Key)]
    }
}

/// Places taken, by client.
#[derive(Debug)]
pub struct ClientLimit {
    taken: Mutex<Taken>,
}

#[derive(Debug)]
struct Taken {
    most: usize,
    most_each: usize,
    all: usize,
    each: HashMap<Who, usize>,
}

/// A place; given back when dropped.
#[derive(Debug)]
pub struct Slot {
    client_limit: Arc<ClientLimit>,
    guest: Guest,
}

/// No place left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    /// This client has all it may have.
    Client,
    /// The server has all it will serve.
    Server,
}

impl ClientLimit {
    /// Places in all, and for one client.
    #[must_use]
    pub fn new(most: usize, most_each: usize) -> Self {
        Self { taken: Mutex::new(Taken { most, most_each, all: 0, each: HashMap::new() }) }
    }

    /// Other limits, for places taken from now on.
    pub fn limit(&self, most: usize, most_each: usize) {
        let mut taken = self.lock();
        (taken.most, taken.most_each) = (most, most_each);
    }

    /// How many places are taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.lock().all
    }

    /// Takes a place.
    ///
    /// # Errors
    /// [`Full`].
    pub fn take(self: &Arc<Self>, guest: &Guest) -> Result<Slot, Full> {
        let mut taken = self.lock();
        if taken.all >= taken.most {
            return Err(Full::Server);
        }
        let counted = guest.counted();
        let most = taken.most_each;
        if counted.iter().flatten().any(|who| taken.each.get(who).is_some_and(|mine| *mine >= most)) || most == 0 {
            return Err(Full::Client);
        }
        taken.all += 1;
        for who in counted.into_iter().flatten() {
            *taken.each.entry(who).or_default() += 1;
        }
        Ok(Slot { client_limit: Arc::clone(self), guest: guest.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = self.client_limit.lock();
        taken.all -= 1;
        for who in self.guest.counted().into_iter().flatten() {
            if let Some(mine) = taken.each.get_mut(&who) {
                *mine -= 1;
                if *mine == 0 {
                    taken.each.remove(&who);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> Guest {
        Guest { peer: Some(Peer::of(IpAddr::from([10, 0, 0, last]))), key: None }
    }

    #[test]
    fn a_client_gets_its_share_and_all_together_theirs() {
        let client_limit = Arc::new(ClientLimit::new(MAX_STREAMS, MAX_PER_CLIENT));
        let mut held = Vec::new();
        for _ in 0..MAX_PER_CLIENT {
            held.push(client_limit.take(&peer(1)).unwrap());
        }
        assert_eq!(client_limit.take(&peer(1)).unwrap_err(), Full::Client);
        held.pop();
        held.push(client_limit.take(&peer(1)).unwrap());
        for client in 2..=10 {
            held.extend((0..MAX_PER_CLIENT).map(|_| client_limit.take(&peer(client)).unwrap()));
        }
        assert_eq!(client_limit.take(&peer(11)).unwrap_err(), Full::Server);
        held.clear();
        let taken = client_limit.lock();
        assert!(taken.each.is_empty() && taken.all == 0);
    }

    #[test]
    fn a_key_has_its_share_from_wherever_it_is_used() {
        let client_limit = Arc::new(ClientLimit::new(10, 2));
        let with_key = |last| Guest { key: Some("shop".into()), ..peer(last) };
        let held = [client_limit.take(&with_key(1)).unwrap(), client_limit.take(&with_key(2)).unwrap()];
        assert_eq!(client_limit.take(&with_key(3)).unwrap_err(), Full::Client);
        client_limit.take(&peer(3)).unwrap();
        drop(held);
        client_limit.take(&with_key(3)).unwrap();
    }

    #[test]
    fn one_client_is_one_however_many_addresses_it_has() {
        let of = |text: &str| Peer::of(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
