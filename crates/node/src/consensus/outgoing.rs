//! Votes of an outgoing voter: one that the newest configuration in its log no longer lists.
//!
//! A change of voters ends with a configuration C that lists the new voters only. Until C is committed the old voters are still needed,
//! because a node without C must win a majority of both sets. An old voter that has C in its log would refuse all of these nodes, since their
//! logs are shorter, and `noraft` does not let it stand for election itself (Raft does: D. Ongaro's thesis, 2014, §4.2.2). If C reached a
//! majority of the old voters and none of the new ones, no voter could ever be elected. So an outgoing voter votes as if its log ended before C.
//!
//! This is safe. Only the voters of C count towards committing C and the entries after it, so no commit relies on the copy of an outgoing voter.
//! C is proposed once the joint configuration is committed, so a candidate without C still has the joint one and needs a majority of
//! the new voters. If C is committed, one of these has it and refuses.

use noraft::{ClusterConfig, LogEntry, LogPosition, Message, Node};

/// The end of the node's log for comparisons with candidates: an outgoing voter does not count the uncommitted configuration that
/// drops it, nor the entries after that.
pub fn end_for_votes(node: &Node, commit: u64) -> LogPosition {
    let is_voter =
        |config: &ClusterConfig| config.voters.contains(&node.id()) || config.new_voters.contains(&node.id());
    end_before_open(node, commit, |config| !is_voter(config))
}

/// The end of the node's log without its newest configuration if that is uncommitted and `is_void`; else the end of the whole log.
pub fn end_before_open(node: &Node, commit: u64, is_void: impl Fn(&ClusterConfig) -> bool) -> LogPosition {
    let entries = node.log().entries();
    let (mut before, mut end) = (entries.prev_position(), entries.last_position());
    for (position, entry) in entries.iter_with_positions() {
        if let LogEntry::ClusterConfig(config) = entry {
            // R22: not before it is committed
            let counts = position.index.get() <= commit || !is_void(&config);
            end = if counts { entries.last_position() } else { before };
        }
        before = position;
    }
    end
}

/// Rewrites a request for a vote so that the engine, which compares whole logs, compares the candidate's log with `end`: a candidate
/// that reaches `end` is shown as having the node's own last position.
pub fn measured_by(end: LogPosition, node: &Node, message: &Message) -> Message {
    let mut measured = message.clone();
    if let Message::RequestVoteCall { last_position, .. } = &mut measured
        && *last_position >= end
    {
        *last_position = node.log().last_position().max(*last_position);
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;
    use noraft::{Action, NodeId, Role};

    const OLD: NodeId = NodeId::new(1);
    const NEW: NodeId = NodeId::new(2);

    fn config(voters: &[NodeId], new_voters: &[NodeId], listeners: &[NodeId]) -> ClusterConfig {
        let mut config = ClusterConfig::new();
        config.voters.extend(voters);
        config.new_voters.extend(new_voters);
        config.non_voters.extend(listeners);
        config
    }

    /// The messages that a node sends.
    fn messages(node: &mut Node) -> Vec<Message> {
        let actions = std::mem::take(node.actions_mut());
        let say = |action| match action {
            Action::SendMessage(_, message) | Action::BroadcastMessage(message) => Some(message),
            _ => None,
        };
        actions.into_iter().filter_map(say).collect()
    }

    /// Exchanges messages until both nodes are silent.
    fn talk(one: &mut Node, other: &mut Node) {
        loop {
            let (first, second) = (messages(one), messages(other));
            if first.is_empty() && second.is_empty() {
                return;
            }
            first.iter().for_each(|message| other.handle_message(message).expect("it is sound"));
            second.iter().for_each(|message| one.handle_message(message).expect("it is sound"));
        }
    }

    fn restarted(node: &Node) -> Node {
        Node::restart(node.id(), node.current_term(), node.voted_for(), node.log().clone())
    }

    /// The only old voter has the final configuration, the only new voter does not, and both have restarted.
    fn stuck() -> (Node, Node) {
        let (mut old, mut new) = (Node::start(OLD), Node::start(NEW));
        old.create_cluster(&[OLD]);
        old.propose_config(config(&[OLD], &[], &[NEW]));
        talk(&mut old, &mut new);
        old.propose_config(config(&[OLD], &[NEW], &[]));
        while !old.config().new_voters.is_empty() || old.config().voters.contains(&OLD) {
            messages(&mut old).iter().for_each(|message| new.handle_message(message).expect("it is sound"));
            messages(&mut new).iter().for_each(|message| old.handle_message(message).expect("it is sound"));
        }
        assert_eq!((old.config(), new.config()), (&config(&[NEW], &[], &[]), &config(&[OLD], &[NEW], &[])));
        (restarted(&old), restarted(&new))
    }

    /// Whether the new voter wins the election if `seen` rewrites its request for the old voter.
    fn is_elected(seen: impl Fn(&Node, Message) -> Message) -> bool {
        let (mut old, mut new) = stuck();
        old.handle_election_timeout();
        assert!(messages(&mut old).is_empty(), "noraft does not let it stand");
        new.handle_election_timeout();
        for message in messages(&mut new) {
            let message = seen(&old, message);
            old.handle_message(&message).expect("it is sound");
        }
        messages(&mut old).iter().for_each(|message| new.handle_message(message).expect("it is sound"));
        new.role() == Role::Leader
    }

    #[test]
    fn an_outgoing_voter_elects_a_new_voter_without_the_final_config() {
        assert!(!is_elected(|_, message| message), "the engine alone never elects it");
        assert!(is_elected(|old, message| measured_by(
            end_for_votes(old, old.commit_index().get()),
            old,
            &message
        )));
    }

    #[test]
    fn only_an_uncommitted_config_without_the_node_shortens_its_log() {
        let (old, new) = stuck();
        let last = old.log().last_position();
        assert_eq!(end_for_votes(&old, last.index.get() - 1), new.log().last_position());
        assert_eq!(end_for_votes(&old, last.index.get()), last, "a committed configuration counts");
        assert_eq!(end_for_votes(&new, 0), new.log().last_position(), "it is a voter in every configuration");
    }
}
