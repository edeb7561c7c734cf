//! The command that explores an instance.

use doorway_checker::{FaultBudget, Setting};
use doorway_simulator::shell;

use super::Instance;

impl Instance {
    /// What one types to explore it.
    #[must_use]
    pub fn command(&self, program: &str) -> String {
        let properties: Vec<&str> = self.properties.iter().map(|property| property.name()).collect();
        let mut words: Vec<String> = [program, "check", &self.algorithm].map(str::to_owned).to_vec();
        let mut flag = |name: &str, value: String| words.extend([format!("--{name}"), value]);
        flag("requests", self.asked());
        flag("channels", self.channels.name().to_owned());
        for (name, choice) in self.options.iter() {
            match name {
                "quorum" => flag(name, choice.word.clone()),
                _ => flag("set", format!("{name}={}", choice.word)),
            }
        }
        let FaultBudget { losses, duplicates, crashes, suspicions } = self.faults;
        let kinds =
            [("lose", losses), ("duplicate", duplicates), ("crash", crashes), ("suspect", suspicions)];
        for (name, most) in kinds {
            if most > 0 {
                flag(name, most.to_string());
            }
        }
        flag("property", properties.join(","));
        shell::joined(&words)
    }

    /// The requests of each node, as one types them: `2,2`.
    #[must_use]
    pub fn asked(&self) -> String {
        let word = |requests: &u32| match *requests {
            Setting::UNBOUNDED => "unbounded".to_owned(),
            requests => requests.to_string(),
        };
        self.requests.iter().map(word).collect::<Vec<_>>().join(",")
    }
}
