//! What decides a run of the bank, each thing as a person would type it.

use std::fmt;
use std::str::FromStr;

use doorway_core::{About, Channels, NodeId, Options, Refusal, SectionName, Ticks};
use doorway_simulator::{Latency, Random, Settings, Span, elected, shell};
use serde::{Deserialize, Serialize};

use super::teller::{Errand, Transfer, Work};

/// One run of the bank.
#[derive(Clone, Debug)]
pub struct Bank {
    /// The name of the lock's algorithm.
    pub algorithm: String,
    /// What is chosen for it.
    pub options: Options,
    /// What is wrong with the lock.
    pub broken: Broken,
    /// How many accounts there are: A.
    pub accounts: usize,
    /// How many clients there are: C.
    pub clients: usize,
    /// What each account has at the beginning: B.
    pub balance: u64,
    /// How many transfers each client tries.
    pub transfers: usize,
    /// How many audits there are.
    pub audits: usize,
    /// How many sections guard the accounts.
    pub locks: Locks,
    /// How money is moved.
    pub update: Update,
    /// Whether accounts reject orders with old fences.
    pub fencing: Fencing,
    /// How long clients and auditor think before they ask for the lock.
    pub think: Span,
    /// Message latency.
    pub latency: Span,
    /// In what order channels deliver; if nothing is said, in the weakest order under which the lock claims to be right.
    pub channels: Option<Channels>,
    /// What chance is drawn from.
    pub seed: u64,
}

impl Default for Bank {
    fn default() -> Self {
        Self {
            algorithm: "ricart-agrawala".to_owned(),
            options: Options::none(),
            broken: Broken::None,
            accounts: 3,
            clients: 3,
            balance: 100,
            transfers: 50,
            audits: 50,
            locks: Locks::One,
            update: Update::Transfer,
            fencing: Fencing::On,
            think: Span::Exponential(50),
            latency: Span::Exponential(10),
            channels: None,
            seed: 1,
        }
    }
}

impl Bank {
    /// The most accounts, and the most clients.
    pub const MOST: usize = 1_000;
    /// The most that an account has at the beginning.
    pub const MOST_MONEY: u64 = 1_000_000_000;
    /// The most transfers of all clients together, and the most audits.
    pub const MOST_ERRANDS: usize = 10_000_000;

    /// # Errors
    /// One sentence about what does not fit together.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |sentence: String| Err(Refusal::new(sentence));
        let (most, errands) = (Self::MOST, self.clients.saturating_mul(self.transfers));
        match () {
            () if self.accounts < 2 => refuse(format!(
                "a transfer goes from one account to another, so there must be at least 2, not {}",
                self.accounts
            )),
            () if self.accounts > most => {
                refuse(format!("the bank has at most {most} accounts, not {}", self.accounts))
            }
            () if self.clients == 0 => {
                refuse("a bank without clients has nothing to do: give 1 or more".to_owned())
            }
            () if self.clients > most => {
                refuse(format!("the bank has at most {most} clients, not {}", self.clients))
            }
            () if self.balance == 0 => {
                refuse("accounts without money have nothing to transfer: give 1 or more".to_owned())
            }
            () if self.balance > Self::MOST_MONEY => {
                refuse(format!("an account has at most {}, not {}", Self::MOST_MONEY, self.balance))
            }
            () if errands.max(self.audits) > Self::MOST_ERRANDS => refuse(format!(
                "there are at most {} transfers and as many audits in a run, not {}",
                Self::MOST_ERRANDS,
                errands.max(self.audits)
            )),
            () => self.network(Channels::Any).check(),
        }
    }

    /// The numbers of processes: accounts first, then clients, then the auditor.
    #[must_use]
    pub fn processes(&self) -> usize {
        self.accounts + self.clients + 1
    }

    /// Who takes part in every section: clients and auditor, P of them.
    pub fn participants(&self) -> impl Iterator<Item = NodeId> + use<> {
        (self.accounts..self.processes()).map(NodeId::new)
    }

    /// How many take part in every section: P.
    #[must_use]
    pub fn participant_count(&self) -> usize {
        self.clients + 1
    }

    /// What all accounts have together: A·B.
    #[must_use]
    pub fn total(&self) -> i64 {
        self.accounts as i64 * self.balance as i64
    }

    /// What people call a process.
    #[must_use]
    pub fn title(&self, process: NodeId) -> String {
        match process.index() {
            place if place < self.accounts => format!("account {}", place + 1),
            place if place < self.accounts + self.clients => format!("client {}", place + 1 - self.accounts),
            _ => "the auditor".to_owned(),
        }
    }

    /// The section that guards each account.
    ///
    /// # Errors
    /// None of these names is too long.
    pub fn guards(&self) -> Result<Vec<SectionName>, Refusal> {
        match self.locks {
            Locks::One => Ok(vec![SectionName::new("bank")?; self.accounts]),
            Locks::PerAccount => {
                (1..=self.accounts).map(|account| SectionName::new(&format!("acct-{account}"))).collect()
            }
        }
    }

    /// How much a participant has to do.
    pub(super) fn errand_count(&self, process: NodeId) -> usize {
        if self.is_auditor(process) { self.audits } else { self.transfers }
    }

    fn is_auditor(&self, process: NodeId) -> bool {
        process.index() + 1 == self.processes()
    }

    /// What a participant has to do, without end, drawn from the seed: each one has a stream of its own.
    pub fn errands(&self, process: NodeId) -> impl Iterator<Item = Errand> + use<> {
        const FIRST_STREAM: u64 = 1_000;
        let mut random = Random::new(self.seed, FIRST_STREAM + process.index() as u64);
        let (bank, is_auditor) = (self.clone(), self.is_auditor(process));
        std::iter::repeat_with(move || {
            let after = Ticks(random.ticks(bank.think));
            let work = if is_auditor { Work::Audit } else { Work::Transfer(bank.transfer(&mut random)) };
            Errand { after, work }
        })
    }

    fn transfer(&self, random: &mut Random) -> Transfer {
        let from = random.below(self.accounts as u64) as usize;
        let other = random.below(self.accounts as u64 - 1) as usize;
        let to = other + usize::from(other >= from);
        Transfer { from, to, amount: 1 + random.below(self.balance) as i64 }
    }

    /// What decides the network of the run, if the lock claims to be right under this order of channels.
    pub(super) fn network(&self, needs: Channels) -> Settings {
        Settings {
            nodes: self.processes(),
            latency: Latency::Span(self.latency),
            hold: self.think,
            channels: self.channels.unwrap_or(needs),
            seed: self.seed,
            ..Settings::default()
        }
    }

    /// The choices as the algorithm understands them: an elected tree is one of the participants.
    ///
    /// # Errors
    /// If the election cannot be held with this many participants.
    pub fn resolved(&self) -> Result<Options, Refusal> {
        let settings = Settings { nodes: self.participant_count(), ..self.network(Channels::Any) };
        elected(&self.options, &settings)
    }

    /// Which of these algorithms guards the accounts, be it a wrong one; `None` without a lock.
    ///
    /// # Errors
    /// If there is no such algorithm, or none that is wrong in this way.
    pub fn lock<'a>(&self, known: &[&'a About]) -> Result<Option<&'a About>, Refusal> {
        let unknown = || Refusal::new(format!("there is no algorithm {:?}", self.algorithm));
        let about = known.iter().find(|about| about.name == self.algorithm).ok_or_else(unknown)?;
        let id = match &self.broken {
            Broken::None => return Ok(Some(*about)),
            Broken::NoLock => return Ok(None),
            Broken::Specimen(id) => id,
        };
        let mut wrong = specimens(known, about.name);
        let found = wrong.find(|(of_it, _)| of_it.eq_ignore_ascii_case(id)).map(|(_, about)| about);
        found.map(Some).ok_or_else(|| {
            let mut kept: Vec<&str> = specimens(known, about.name).map(|(id, _)| id).collect();
            kept.dedup();
            kept.extend(["no-lock", "none"]);
            let last = kept.pop().unwrap_or_default();
            let name = about.name;
            Refusal::new(format!(
                "{name} is not kept broken as {id:?}, only as {} or {last}",
                kept.join(", ")
            ))
        })
    }

    /// What to type to make this run, `program` being the name of the command. What is as by default is left out.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let usual = Bank::default();
        let mut words = vec![program.to_owned(), "bank".to_owned(), "--simulated".to_owned()];
        for ((name, value), (_, usual)) in self.told().into_iter().zip(usual.told()) {
            if value != usual {
                words.extend([format!("--{name}"), value]);
            }
        }
        for (name, choice) in self.options.iter() {
            words.extend(match name {
                "quorum" | "structure" | "tree" | "arbitration" => [format!("--{name}"), choice.word.clone()],
                _ => ["--set".to_owned(), format!("{name}={}", choice.word)],
            });
        }
        let channels = self.channels.map(|channels| ["--channels".to_owned(), channels.name().to_owned()]);
        words.extend(channels.into_iter().flatten());
        words.extend(["--seed".to_owned(), self.seed.to_string(), "--runs".to_owned(), "1".to_owned()]);
        shell::joined(&words)
    }

    /// Everything but choices, channels and seed, with the name of its flag.
    fn told(&self) -> Vec<(&'static str, String)> {
        vec![
            ("algorithm", self.algorithm.clone()),
            ("broken", self.broken.to_string()),
            ("locks", self.locks.to_string()),
            ("update", self.update.to_string()),
            ("fencing", self.fencing.to_string()),
            ("accounts", self.accounts.to_string()),
            ("clients", self.clients.to_string()),
            ("balance", self.balance.to_string()),
            ("transfers", self.transfers.to_string()),
            ("audits", self.audits.to_string()),
            ("think", self.think.to_string()),
            ("latency", self.latency.to_string()),
        ]
    }
}

/// The wrong variants of an algorithm, each with its number in the list of claims.
fn specimens<'a>(known: &[&'a About], algorithm: &str) -> impl Iterator<Item = (&'static str, &'a About)> {
    known.iter().filter_map(move |about| {
        let specimen = about.specimen.filter(|specimen| specimen.of == algorithm)?;
        Some((specimen.id, *about))
    })
}

/// What is wrong with the lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Nothing.
    None,
    /// There is none.
    NoLock,
    /// It is the specimen of this number: `E1`.
    Specimen(String),
}

impl From<&str> for Broken {
    fn from(word: &str) -> Self {
        match word {
            "none" => Broken::None,
            "no-lock" => Broken::NoLock,
            id => Broken::Specimen(id.to_owned()),
        }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Broken::None => f.write_str("none"),
            Broken::NoLock => f.write_str("no-lock"),
            Broken::Specimen(id) => f.write_str(id),
        }
    }
}

/// A setting with two values, each with the word for it.
macro_rules! either {
    ($(#[$doc:meta])* $name:ident: $what:literal, $(#[$first_doc:meta])* $first:ident = $first_word:literal,
     $(#[$second_doc:meta])* $second:ident = $second_word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name {
            $(#[$first_doc])*
            #[serde(rename = $first_word)]
            $first,
            $(#[$second_doc])*
            #[serde(rename = $second_word)]
            $second,
        }

        impl FromStr for $name {
            type Err = Refusal;

            fn from_str(word: &str) -> Result<Self, Refusal> {
                match word {
                    $first_word => Ok($name::$first),
                    $second_word => Ok($name::$second),
                    _ => Err(Refusal::new(format!(
                        concat!("{:?} is no ", $what, ": ", $first_word, " or ", $second_word),
                        word
                    ))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $name::$first => $first_word,
                    $name::$second => $second_word,
                })
            }
        }
    };
}

either! {
    /// How many sections guard the accounts.
    Locks: "way to guard accounts",
    /// One for all of them.
    One = "one",
    /// One for each, taken in the order of the accounts.
    PerAccount = "per-account"
}

either! {
    /// How money is moved.
    Update: "way to move money",
    /// By DEBIT and CREDIT.
    Transfer = "transfer",
    /// By READ and then WRITE of both balances.
    Rewrite = "rewrite"
}

either! {
    /// Whether accounts reject orders whose fence is smaller than one that they have seen.
    Fencing: "kind of fencing",
    /// They do.
    On = "on",
    /// They only count them.
    Off = "off"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_tells_what_differs_from_the_defaults() {
        assert_eq!(Bank::default().command("doorway"), "doorway bank --simulated --seed 1 --runs 1");
        let bank = Bank {
            algorithm: "maekawa".to_owned(),
            options: Options::none().with("quorum", "grid"),
            broken: Broken::NoLock,
            locks: Locks::PerAccount,
            update: Update::Rewrite,
            fencing: Fencing::Off,
            latency: Span::Uniform(1, 9),
            channels: Some(Channels::Causal),
            seed: 7,
            ..Bank::default()
        };
        assert_eq!(
            bank.command("doorway"),
            "doorway bank --simulated --algorithm maekawa --broken no-lock --locks per-account --update rewrite \
             --fencing off --latency uniform:1:9 --quorum grid --channels causal --seed 7 --runs 1"
        );
    }

    #[test]
    fn what_makes_no_bank_is_refused_in_one_sentence() {
        let refused = |change: fn(&mut Bank)| {
            let mut bank = Bank::default();
            change(&mut bank);
            bank.check().expect_err("it is no bank").to_string()
        };
        let two = "a transfer goes from one account to another, so there must be at least 2, not 1";
        assert_eq!(refused(|bank| bank.accounts = 1), two);
        assert!(refused(|bank| bank.accounts = 0).ends_with("at least 2, not 0"));
        assert_eq!(refused(|bank| bank.accounts = 1_001), "the bank has at most 1000 accounts, not 1001");
        assert_eq!(
            refused(|bank| bank.clients = 0),
            "a bank without clients has nothing to do: give 1 or more"
        );
        assert_eq!(
            refused(|bank| bank.clients = usize::MAX),
            format!("the bank has at most 1000 clients, not {}", usize::MAX)
        );
        assert_eq!(
            refused(|bank| bank.balance = 0),
            "accounts without money have nothing to transfer: give 1 or more"
        );
        assert!(
            refused(|bank| bank.balance = u64::MAX).starts_with("an account has at most 1000000000, not")
        );
        assert!(
            refused(|bank| bank.transfers = usize::MAX).starts_with("there are at most 10000000 transfers")
        );
        assert!(refused(|bank| bank.audits = usize::MAX).starts_with("there are at most 10000000 transfers"));
        assert!(refused(|bank| bank.latency = Span::Constant(u64::MAX)).contains("ticks are too long"));
        assert!(refused(|bank| bank.think = Span::Uniform(9, 1)).contains("cannot end before it begins"));
    }
}
