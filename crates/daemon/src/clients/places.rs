//! How many clients there may be, in all and of each user.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::{Caller, SocketKind};
use crate::budget::Budget;
use crate::shared::lock;

/// The connected clients.
#[derive(Default)]
pub(crate) struct Places {
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    clients: usize,
    administrators: usize,
    /// Those of the users' socket, by their uid.
    by_uid: BTreeMap<u32, usize>,
}

/// A place among the clients, given back when it is dropped.
pub(super) struct ClientPermit {
    places: Arc<Places>,
    caller: Caller,
}

impl Places {
    /// # Errors
    /// If there are too many clients: one sentence that names the limit.
    pub(super) fn take(self: &Arc<Self>, caller: Caller, budget: &Budget) -> Result<ClientPermit, String> {
        lock(&self.taken).add(&caller, budget)?;
        Ok(ClientPermit { places: self.clone(), caller })
    }
}

impl Taken {
    fn add(&mut self, caller: &Caller, budget: &Budget) -> Result<(), String> {
        if caller.door == SocketKind::Administrators {
            if self.administrators >= budget.administrators {
                return Err(format!(
                    "{} administrators are connected, which is the limit",
                    self.administrators
                ));
            }
            self.administrators += 1;
            return Ok(());
        }
        if self.clients >= budget.clients {
            return Err(format!(
                "{} clients are connected, as many as limits.clients and the daemon's file descriptors allow",
                self.clients
            ));
        }
        if let Some(uid) = caller.quota_uid() {
            let count = self.by_uid.get(&uid).copied().unwrap_or_default();
            if count >= budget.clients_per_uid {
                return Err(format!(
                    "{count} clients of uid {uid} are connected, as many as limits.clients_per_uid allows"
                ));
            }
            self.by_uid.insert(uid, count + 1);
        }
        self.clients += 1;
        Ok(())
    }

    fn remove(&mut self, caller: &Caller) {
        if caller.door == SocketKind::Administrators {
            self.administrators -= 1;
            return;
        }
        self.clients -= 1;
        let Some(uid) = caller.quota_uid() else { return };
        if let Some(count) = self.by_uid.get_mut(&uid) {
            *count -= 1;
            if *count == 0 {
                self.by_uid.remove(&uid);
            }
        }
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        lock(&self.places.taken).remove(&self.caller);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_leave_room_for_others_and_for_administrators() {
        let budget = Budget { clients: 3, clients_per_uid: 2, administrators: 4, strangers: 1 };
        let places = Arc::<Places>::default();
        let take = |door, uid| places.take(Caller { door, uid: Some(uid), process: None }, &budget);
        let refused = |door, uid| take(door, uid).err().unwrap_or_else(|| panic!("{uid} is let in"));
        let (first, _second) =
            (take(SocketKind::Users, 7).expect("room"), take(SocketKind::Users, 7).expect("room"));
        assert_eq!(
            refused(SocketKind::Users, 7),
            "2 clients of uid 7 are connected, as many as limits.clients_per_uid allows"
        );
        let _third = take(SocketKind::Users, 8).expect("another user");
        assert!(refused(SocketKind::Users, 9).starts_with("3 clients are connected"));
        assert!(refused(SocketKind::Own, 7).starts_with("3 clients are connected"));
        let administrators: Vec<ClientPermit> =
            (0..4).map(|_| take(SocketKind::Administrators, 7).expect("room")).collect();
        assert!(refused(SocketKind::Administrators, 7).starts_with("4 administrators are connected"));
        drop(administrators);
        drop(first);
        drop(take(SocketKind::Own, 7).expect("there is room again"));
        drop(take(SocketKind::Users, 7).expect("and its share is not used up"));
    }
}
